package regress

import "muster/regress/internal/exec/local"

// CheckLimits returns an error when so few open files or processes or so little memory are
// allowed that what this package does may end in a crash of the Go runtime, or in an
// error of SQLite that does not say what it lacks, however few cases run. It is of class
// Environment. A run asks again for its lanes.
func CheckLimits() error { return checkLimits(0) }

// checkLimits refuses more lanes than the limits allow, before any case meets them.
func checkLimits(lanes int) error {
	if err := checkOpenFiles(lanes); err != nil {
		return err
	}
	return local.CheckLimits(lanes)
}
