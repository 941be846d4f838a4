// Package lab measures what concurrency costs on this machine: tasks handed to pools,
// items through channels, goroutines and threads, files, and what the articles said of
// them. Every figure comes from a process of its own, started several times in turns
// with those that it is compared with; a result is a median with its interval, and says
// by itself what is wrong with it.
//
// [Dispatch], [Channel], [Spawn], [IO], [Claims] and [Advise] measure and return a
// [Results], which [Results.Write] gives as lines of Go's benchmarks, and a [Report] as
// tables and plots.
//
// The package must not decide what a flag means, nor draw on a terminal.
package lab

import (
	"fmt"

	"muster/lab/internal/run"
	"muster/lab/results"
)

// Options are common to all that measures; Progress is how far it has come; an InputError
// is a mistake in what was asked for: nothing was measured.
type (
	Options    = run.Options
	Progress   = run.Progress
	InputError = run.InputError
)

// Results is what was measured.
type Results = results.Results

func inputf(format string, args ...any) error {
	return &InputError{Err: fmt.Errorf(format, args...)}
}
