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

// touch records that a file was used, in its access time. The time of its content stays.
func touch(folder int, name string) {
	times := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_OMIT}}
	_ = unix.UtimesNanoAt(folder, name, times, unix.AT_SYMLINK_NOFOLLOW) // the order after a restart is only a little worse
}
