package check

import "muster/regress/internal/crew"

// SystemLimits returns an error of class Environment if this process may open too few files, start
// too few processes or use too little memory. Without that error, a command that meets the limits
// might end in a crash of the Go runtime, or in an error of SQLite that hides the reason. A run
// checks again what its lanes need.
func SystemLimits() error { return crew.CheckLimits(0) }
