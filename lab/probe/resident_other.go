//go:build !linux

package probe

// resident returns 0: the resident memory is unknown.
func resident() uint64 { return 0 }
