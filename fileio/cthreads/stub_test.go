//go:build !linux || !cgo

package cthreads_test

import (
	"errors"
	"testing"

	"muster/fileio/cthreads"
)

// Without C threads, New returns ErrNotBuiltIn, but reports errors in the options first.
func TestNotBuiltIn(t *testing.T) {
	if _, err := cthreads.New(cthreads.Options{Threads: 1}); !errors.Is(err, cthreads.ErrNotBuiltIn) {
		t.Error(err)
	}
	if _, err := cthreads.New(cthreads.Options{}); err == nil || errors.Is(err, cthreads.ErrNotBuiltIn) {
		t.Error(err)
	}
}
