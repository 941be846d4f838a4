package lane

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
)

// mount shows root at canonical in the mount namespace that the parent made for this process.
// With a PID namespace it also mounts a /proc for it.
func mount(root, canonical string, pids bool) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fail("make private", "/", err)
	}
	if err := syscall.Mount(root, canonical, "", syscall.MS_BIND, ""); err != nil {
		return fail("mount", canonical, err)
	}
	var a, b syscall.Stat_t
	if err := errors.Join(syscall.Stat(root, &a), syscall.Stat(canonical, &b)); err != nil {
		return fail("look at", canonical, err)
	}
	if a.Ino != b.Ino || a.Dev != b.Dev {
		return fail("mount", canonical, errors.New("something else is there"))
	}
	if pids {
		// The kernel refuses this where parts of the outer /proc are masked, as in most
		// containers. That matters only to tools that look themselves up there.
		_ = syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	}
	return nil
}

// hideFolder mounts an empty folder over one, in this process's mount namespace. A case that
// removes everything it finds (rm -rf /dev/shm/*) would otherwise end other cases, or write
// their outputs. Paths relative to a working folder that was entered before stay valid. If the
// kernel refuses, cases run all the same.
func hideFolder(dir string) {
	const flags = syscall.MS_RDONLY | syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	_ = syscall.Mount("none", dir, "tmpfs", flags, "size=4k,nr_inodes=1,mode=555")
}

// runFolder returns the folder with the lanes and the outboxes of a run, or "" if it cannot be
// hidden from the cases. Cases do not need it: they see their own lane elsewhere.
func runFolder(s *Setup) string {
	dir := folderOf(s.Root)
	if s.Canonical == "" || dir != folderOf(s.Outbox) {
		return "" // or the lane's folder is the user's own (Keep), and so is the folder around it
	}
	return dir
}

// inside lists the folders that belong to the lanes, as cases see them: those around this lane
// exist only while muster runs.
func (s *Setup) inside() []string {
	list := []string{folderOf(s.Root), folderOf(s.Outbox)}
	if s.Canonical != "" {
		list = append(list, folderOf(folderOf(s.Canonical)))
	}
	return list
}

func folderOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// relativeTo returns a path below dir as relative to dir.
func relativeTo(dir, path string) string {
	if dir == "" {
		return path
	}
	return path[len(dir)+1:]
}

// ownProc reports whether /proc shows this process's own PID namespace.
func ownProc() bool {
	var buf [32]byte
	n, err := syscall.Readlink("/proc/self", buf[:])
	return err == nil && string(buf[:n]) == strconv.Itoa(syscall.Getpid())
}
