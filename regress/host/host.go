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

	// GitHub is the step of GitHub Actions that runs the command; nil = none.
	GitHub *GitHub

	// Executor starts what runs the cases. It is nil outside of tests: then lanes run them, or
	// the engine that the options name.
	Executor func(lanes int) (exec.Executor, error)
}

// GitHub is where a step of GitHub Actions takes annotations and its summary.
type GitHub struct {
	Commands io.Writer // the runner reads commands here; Stdout and Stderr have none
	Summary  string    // path of the summary; "" = none
}
