//go:build !linux

package probe

// MemoryTotal returns 0: the memory of this machine is unknown.
func MemoryTotal() uint64 { return 0 }
