package lane

import (
	"strings"
	"syscall"
)

// runFolder is the folder that holds the lanes and the outboxes of a run, when it
// can be kept from the cases; else "". Its name is of no use to them: they see
// their own lane elsewhere.
func runFolder(s *Setup) string {
	dir := s.Root[:max(0, strings.LastIndexByte(s.Root, '/'))]
	if s.Canonical == "" || dir == "" || !strings.HasPrefix(s.Outbox, dir+"/") {
		return ""
	}
	return dir
}

// below is a path below dir as relative to it.
func below(dir, path string) string {
	if dir == "" {
		return path
	}
	return path[len(dir)+1:]
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
