//go:build !linux || !cgo

package cthreads

import (
	"muster/fileio"
)

// Engine cannot be created in this build.
type Engine struct{}

// New returns ErrNotBuiltIn, or an error about the options.
func New(o Options) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	return nil, ErrNotBuiltIn
}

// Threads returns nil.
func (*Engine) Threads() []Thread { return nil }

// Do is never called.
func (*Engine) Do(*fileio.Job) error { return ErrNotBuiltIn }

// Room returns no bounds.
func (*Engine) Room() fileio.Room { return fileio.Room{} }

// Stats returns zeros.
func (*Engine) Stats() fileio.Stats { return fileio.Stats{} }

// Close does nothing.
func (*Engine) Close() error { return nil }
