//go:build !linux

package probe

import (
	"context"
	"io"
	"os"
)

// Exhaust needs Linux.
func Exhaust(context.Context, ExhaustOptions) (ExhaustResult, error) {
	return ExhaustResult{}, linuxOnly()
}

// BlockThreads needs Linux.
func BlockThreads(int, *os.File, io.Writer) error { return linuxOnly() }

func linuxOnly() error {
	return &UnmeasurableError{exhaustQuestion, "only Linux reports how many threads a machine can spare"}
}
