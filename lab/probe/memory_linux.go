package probe

import "syscall"

// MemoryTotal returns the memory of this machine in bytes, 0 if it is unknown.
func MemoryTotal() uint64 {
	var i syscall.Sysinfo_t
	if syscall.Sysinfo(&i) != nil {
		return 0
	}
	return uint64(i.Totalram) * uint64(i.Unit)
}
