// Package timing runs programs as whole processes and takes medians of their costs. It must not
// know what the programs do.
package timing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// Sample is one run of a program. CPU is that of the program and all its
// descendants that were waited for.
type Sample struct {
	Wall, User, Sys time.Duration
}

// CPU is user and system time together.
func (s Sample) CPU() time.Duration { return s.User + s.Sys }

// Command is a program to run.
type Command struct {
	Args []string
	Dir  string
	Env  []string // nil = ours
}

// Run runs c and waits. An exit status that is not among accepted is an error.
func Run(ctx context.Context, c Command, stdout io.Writer, accepted ...int) (Sample, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout = c.Dir, c.Env, stdout
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(accepted, exit.ExitCode()) {
		err = nil
	}
	if err != nil {
		return Sample{}, fmt.Errorf("%q: %w", c.Args, err)
	}
	return Sample{wall, cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime()}, nil
}

// Median returns the middle of values, the upper one of two, or zero without values.
func Median[T int64 | float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// Of returns one figure of every sample.
func Of[T any](samples []Sample, figure func(Sample) T) []T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = figure(s)
	}
	return values
}
