//go:build !linux

package uring_test

import (
	"errors"
	"testing"

	"muster/fileio/uring"
)

// Without io_uring, New returns ErrUnavailable, but reports errors in the options first.
func TestUnavailable(t *testing.T) {
	if _, err := uring.New(uring.Options{Threads: 1}); !errors.Is(err, uring.ErrUnavailable) {
		t.Error(err)
	}
	if _, err := uring.New(uring.Options{}); err == nil || errors.Is(err, uring.ErrUnavailable) {
		t.Error(err)
	}
}
