//go:build !linux

package probe

import (
	"context"
	"io"
	"os"
)

// Exhaust tells how Go's runtime ends a process with too many threads; here that cannot
// be told.
func Exhaust(context.Context, ExhaustOptions) (Exhausted, error) { return Exhausted{}, linuxOnly() }

// BlockThreads is what Exhaust's process does.
func BlockThreads(int, *os.File, io.Writer) error { return linuxOnly() }

func linuxOnly() error {
	return &CannotTell{"how Go ends a program with too many threads", "what a machine can spare is known on Linux only"}
}
