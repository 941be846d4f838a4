// Package lab measures what concurrency costs on this machine: tasks on pools, items through
// channels, goroutines and threads, files, and the claims of well-known articles. Each
// measurement is a process of its own. Processes of compared figures run in turns, several
// times. A result is a median with its interval, and warnings about figures that may mislead.
//
// [Dispatch], [Channel], [Spawn], [IO], [Claims] and [Advise] measure and return [Results].
// [Results.Write] writes them in Go's benchmark format, and a [Report] as tables and charts.
//
// The package must not parse flags or draw on a terminal.
package lab

import (
	"context"
	"io"

	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// Results are the results of a run.
type Results = results.Results

// Compilers looks for the compilers of contestants. It returns what is there, and what is missing with
// the command that installs it.
func Compilers(ctx context.Context) ([]native.Compiler, error) { return native.Compilers(ctx) }

// MemoryFree returns how many bytes of memory this process could still take, 0 if it is unknown.
func MemoryFree() int64 { return probe.MemoryFree() }

// Probe measures in the process that [Options.Probe] starts. The arguments are internal to lab and may
// change with every version.
func Probe(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	return probe.Run(ctx, args, stdin, stdout)
}
