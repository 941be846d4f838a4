// Package host has what the calling program provides to a command of regress: streams, a client for
// files at addresses, and an executor for tests. Everything else is in regress.Options, as plain data.
//
// It must not have behaviour of its own.
package host

import (
	"io"

	"muster/files"
	"muster/regress/internal/exec"
)

// A Host is the surroundings of a command.
type Host struct {
	Stdin  io.Reader           // input for a corpus or events named "-", and the keyboard of a review
	Stdout io.Writer           // results
	Stderr io.Writer           // progress and notes
	Files  files.ClientOptions // reaches goldens at addresses

	// Executor starts what runs the cases. It is nil outside of tests: then lanes run them, or
	// the engine that the options name.
	Executor func(lanes int) (exec.Executor, error)
}
