//go:build !linux

package probe

// threads is how many threads this process has; here that cannot be told.
func threads() int { return 0 }
