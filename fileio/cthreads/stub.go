//go:build !linux || !cgo

package cthreads

import (
	"muster/fileio"
)

// Engine is what there is not here.
type Engine struct{}

// New says that there are no threads in C here.
func New(o Options) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	return nil, ErrNotBuiltIn
}

// Threads is none.
func (*Engine) Threads() []Thread { return nil }

// Do is never reached, for there is no engine.
func (*Engine) Do(*fileio.Job) error { return ErrNotBuiltIn }

// Room is without bounds.
func (*Engine) Room() fileio.Room { return fileio.Room{} }

// Stats is nothing.
func (*Engine) Stats() fileio.Stats { return fileio.Stats{} }

// Close has nothing to end.
func (*Engine) Close() error { return nil }
