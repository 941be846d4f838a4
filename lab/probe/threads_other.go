//go:build !linux

package probe

// threads returns 0: the number of threads is unknown.
func threads() int { return 0 }
