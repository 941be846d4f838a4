package probe

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"muster/internal/cgroup"
)

// resident returns this process's resident memory in bytes, 0 if it is unknown.
func resident() uint64 {
	text, _ := os.ReadFile("/proc/self/statm")
	var all, pages uint64
	_, _ = fmt.Sscan(string(text), &all, &pages)
	return pages * uint64(os.Getpagesize())
}

// MemoryTotal returns the memory of this machine in bytes, 0 if it is unknown.
func MemoryTotal() uint64 {
	var i syscall.Sysinfo_t
	if syscall.Sysinfo(&i) != nil {
		return 0
	}
	return uint64(i.Totalram) * uint64(i.Unit)
}

// MemoryFree returns how many bytes of memory this process could still take, 0 if it is unknown.
func MemoryFree() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	_, after, _ := strings.Cut(string(text), "MemAvailable:")
	var kib int64
	_, _ = fmt.Sscan(after, &kib)
	return min(kib<<10, cgroup.MemoryLeft("/proc"))
}

// threads returns the number of threads of this process, 0 if it is unknown.
func threads() int {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return int(st.Nlink) - 2 // the directory has an entry for each thread
}
