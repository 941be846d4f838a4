//go:build !linux

package local

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
)

// Crew exists only on Linux. Its methods are never called here.
type Crew struct{ exec.Executor }

// Start returns an error.
func Start(context.Context, Options) (*Crew, error) {
	return nil, fault.Environmentf("running cases needs Linux: lanes are made of its namespaces and inotify")
}

// AvailableMemory returns 0: the memory is not known.
func AvailableMemory() int64 { return 0 }

// CheckLimits has nothing to check: there are no lanes.
func CheckLimits(int) error { return nil }
