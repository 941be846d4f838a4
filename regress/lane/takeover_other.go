//go:build !linux

package lane

// Lanes need Linux. Elsewhere the program runs no cases, and reports that.
