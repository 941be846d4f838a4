//go:build !linux

package local

// Enough is never to the point: there are no lanes.
func Enough(int) error { return nil }
