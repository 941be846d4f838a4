package lane

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
)

// mount shows root at canonical in the mount namespace that the parent made
// for this process, and a /proc of its own where it has its own PIDs.
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
		// Refused where parts of the outer /proc are masked, as in most
		// containers; only tools that look themselves up there would notice.
		_ = syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
	}
	return nil
}

// hide puts an empty folder over one, in this process's mount namespace. What is
// relative to a working folder that was entered before still is what it was. A case
// that clears all that it finds (rm -rf /dev/shm/*) would otherwise end other cases
// than itself, or write what they are judged by. Where that is refused there is
// nothing for it, and no reason not to run.
func hide(dir string) {
	const flags = syscall.MS_RDONLY | syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC
	_ = syscall.Mount("none", dir, "tmpfs", flags, "size=4k,nr_inodes=1,mode=555")
}

// runFolder is the folder that holds the lanes and the outboxes of a run, when it
// can be kept from the cases; else "". Its name is of no use to them: they see
// their own lane elsewhere.
func runFolder(s *Setup) string {
	dir := folderOf(s.Root)
	if s.Canonical == "" || dir != folderOf(s.Outbox) {
		return "" // or the lane's folder is the user's own (Keep), and so is what is around it
	}
	return dir
}

func folderOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// below is a path below dir as relative to it.
func below(dir, path string) string {
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
