// Package lab measures what concurrency costs on this machine: tasks on pools, items through
// channels, goroutines and threads, files, and the claims of well-known articles. Each
// measurement is a process of its own. Processes of compared figures run in turns, several
// times. A result is a median with its interval, and warnings about figures that may mislead.
//
// [Dispatch], [Channel], [Spawn], [IO], [Claims] and [Advise] measure and return [Results].
// [Results.Write] writes them in Go's benchmark format, and a [Report] as tables and plots.
//
// The package must not parse flags or draw on a terminal.
package lab

import (
	"fmt"

	"muster/lab/internal/run"
	"muster/lab/results"
)

// Options are common to all measurements. Progress is the state of a run. An InputError is a
// mistake in the options; nothing was measured.
type (
	Options    = run.Options
	Progress   = run.Progress
	InputError = run.InputError
)

// Results are the results of a run.
type Results = results.Results

func inputf(format string, args ...any) error {
	return &InputError{Err: fmt.Errorf(format, args...)}
}
