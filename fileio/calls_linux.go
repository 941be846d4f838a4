package fileio

import "golang.org/x/sys/unix"

// flush makes the disk keep what was written to a file: its data, and what is needed to read
// it.
func flush(file int) error { return unix.Fdatasync(file) }

// flushesAll reports whether syncFS works on a folder. On FUSE the kernel accepts it, and does not
// pass it on to the program behind the file system.
func flushesAll(folder int) bool {
	var st unix.Statfs_t
	err := unix.Fstatfs(folder, &st)
	return err == nil && st.Type != unix.FUSE_SUPER_MAGIC
}

// syncFS flushes the folder's file system. It reports errors of all files that were written
// since the last call.
func syncFS(folder int) error { return unix.Syncfs(folder) }
