//go:build !linux || !cgo

package cthreads

import "muster/fileio"

// Engine cannot be created in this build, so nothing calls its methods.
type Engine struct{ fileio.Engine }

// New returns ErrNotBuiltIn, or an error about the options.
func New(o Options) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	return nil, ErrNotBuiltIn
}

// Threads returns nil.
func (*Engine) Threads() []Thread { return nil }
