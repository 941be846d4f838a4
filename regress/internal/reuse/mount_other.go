//go:build !linux

package reuse

// flagsOf returns nothing: only Linux has --reuse.
func flagsOf(string) string { return "" }
