//go:build !linux

package lane

// Lanes need Linux: elsewhere the program runs no cases and says so.
