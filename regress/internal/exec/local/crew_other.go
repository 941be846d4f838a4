//go:build !linux

package local

import (
	"context"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
)

// Crew exists only on Linux.
type Crew struct{}

// Start returns an error.
func Start(context.Context, Options) (*Crew, error) {
	return nil, fault.Environmentf("running cases needs Linux: lanes are made of its namespaces and inotify")
}

// Run is never called.
func (*Crew) Run(context.Context, exec.Job) (*exec.Result, error) { return nil, nil }

// RunAll is never called.
func (*Crew) RunAll(context.Context, exec.Batch) int { return 0 }

// Floor is never called.
func (*Crew) Floor() int64 { return 0 }

// OwnCPU is never called.
func (*Crew) OwnCPU() time.Duration { return 0 }

// Close is never called.
func (*Crew) Close() error { return nil }

// CheckLimits has nothing to check: there are no lanes.
func CheckLimits(int) error { return nil }
