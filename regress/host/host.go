// Package host has what a command of regress uses of the program that calls it: streams, a client
// for files at addresses, and the means to run cases. Options have the rest, as plain data.
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
	Stdin  io.Reader           // a corpus or events of that name, and the keyboard of a review
	Stdout io.Writer           // results
	Stderr io.Writer           // progress and notes
	Files  files.ClientOptions // reach goldens at addresses

	// Executor starts what runs the cases; nil = lanes, or the engine that the options name. For
	// tests.
	Executor func(lanes int) (exec.Executor, error)
}
