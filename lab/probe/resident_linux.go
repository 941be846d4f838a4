package probe

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// resident returns this process's resident memory in bytes, 0 if it is unknown.
func resident() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
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
func MemoryFree() int64 { return memoryFree("/proc") }

// threads returns the number of threads of this process, 0 if it is unknown.
func threads() int {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return int(st.Nlink) - 2 // the directory has an entry for each thread
}
