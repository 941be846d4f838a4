//go:build !linux

package probe

// resident returns 0: the resident memory is unknown.
func resident() uint64 { return 0 }

// MemoryTotal returns 0: the memory of this machine is unknown.
func MemoryTotal() uint64 { return 0 }

// MemoryFree returns 0: the free memory is unknown.
func MemoryFree() int64 { return 0 }

// threads returns 0: the number of threads is unknown.
func threads() int { return 0 }
