//go:build !linux

package local

import (
	"context"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
)

// Crew exists only on Linux. Its methods are never called here.
type Crew struct{ exec.Executor }

// Kind describes the lanes.
func (*Crew) Kind() string { return "" }

// Limits lists the limits of cases.
func (*Crew) Limits() string { return "" }

// Start returns an error.
func Start(context.Context, Options) (*Crew, error) {
	return nil, fault.Environmentf("this system cannot run cases, because it lacks the namespaces and inotify of Linux, which keep cases apart: give --remote, which runs them on an engine, or use muster on Linux")
}

// AvailableMemory returns 0: the memory is not known.
func AvailableMemory() int64 { return 0 }

// CheckLimits has nothing to check: there are no lanes.
func CheckLimits(int) error { return nil }
