//go:build !linux

package uring

import (
	"fmt"

	"muster/fileio"
)

// Engine cannot be created in this build.
type Engine struct{}

// New returns ErrUnavailable, or an error about the options.
func New(o Options) (*Engine, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: only Linux has it", ErrUnavailable)
}

// Do is never called.
func (*Engine) Do(*fileio.Job) error { return ErrUnavailable }

// Room returns no bounds.
func (*Engine) Room() fileio.Room { return fileio.Room{} }

// Stats returns zeros.
func (*Engine) Stats() fileio.Stats { return fileio.Stats{} }

// Close does nothing.
func (*Engine) Close() error { return nil }
