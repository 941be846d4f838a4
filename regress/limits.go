package regress

import (
	"muster/regress/internal/crew"
)

// CheckLimits returns an error when so few open files or processes or so little memory are
// allowed that what this package does may end in a crash of the Go runtime, or in an
// error of SQLite that does not say what it lacks, however few cases run. It is of class
// Environment. A run asks again for its lanes.
func CheckLimits() error { return crew.CheckLimits(0) }
