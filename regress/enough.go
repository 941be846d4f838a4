package regress

import "muster/regress/internal/exec/local"

// Enough returns an error when so few processes or so little memory are allowed that
// what this package does may end in a crash of the Go runtime, however few cases run.
// It is of class Environment. A run asks again for its lanes.
func Enough() error { return local.Enough(0) }

// enough refuses more lanes than the limits allow, before any case meets them.
func enough(lanes int) error {
	if err := enoughFiles(lanes); err != nil {
		return err
	}
	return local.Enough(lanes)
}
