//go:build !linux

package uring

import (
	"fmt"

	"muster/fileio"
)

// Engine is what there is not here.
type Engine struct{}

// New says that there is no io_uring here.
func New(o Options) (*Engine, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: only Linux has it", ErrUnavailable)
}

// Do is never reached, for there is no engine.
func (*Engine) Do(*fileio.Job) error { return ErrUnavailable }

// Room is without bounds.
func (*Engine) Room() fileio.Room { return fileio.Room{} }

// Stats is nothing.
func (*Engine) Stats() fileio.Stats { return fileio.Stats{} }

// Close has nothing to end.
func (*Engine) Close() error { return nil }
