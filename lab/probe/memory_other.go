//go:build !linux

package probe

// MemoryTotal is the memory of this machine; here that cannot be told.
func MemoryTotal() uint64 { return 0 }
