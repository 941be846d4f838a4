package regress

import "muster/regress/internal/exec/local"

// Enough returns an error when so few open files or processes or so little memory are
// allowed that what this package does may end in a crash of the Go runtime, or in an
// error of SQLite that does not say what it lacks, however few cases run. It is of class
// Environment. A run asks again for its lanes.
func Enough() error { return enough(0) }

// enough refuses more lanes than the limits allow, before any case meets them.
func enough(lanes int) error {
	if err := enoughFiles(lanes); err != nil {
		return err
	}
	return local.Enough(lanes)
}
