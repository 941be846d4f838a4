package probe

import "syscall"

// MemoryTotal is the memory of this machine in bytes; 0 if it cannot be told.
func MemoryTotal() uint64 {
	var i syscall.Sysinfo_t
	if syscall.Sysinfo(&i) != nil {
		return 0
	}
	return uint64(i.Totalram) * uint64(i.Unit)
}
