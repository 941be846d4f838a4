//go:build !linux

package uring

import (
	"fmt"

	"muster/fileio"
)

// Engine cannot be created in this build, so nothing calls its methods.
type Engine struct{ fileio.Engine }

// New returns ErrUnavailable, or an error about the options.
func New(o Options) (*Engine, error) {
	if err := fileio.CheckThreads(o.Threads, o.Light); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: only Linux has it", ErrUnavailable)
}
