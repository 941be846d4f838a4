package probe

import (
	"fmt"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
)

// Names of package fileio's engines.
const (
	Direct   = "direct"
	Pool     = "pool"
	CThreads = "cthreads"
	URing    = "uring"
)

// Engines returns all names. The engine without a bound on threads is first.
func Engines() []string { return []string{Direct, Pool, CThreads, URing} }

// EngineOptions select the engine that executes file operations.
type EngineOptions struct {
	Name    string
	Threads int  // 1 or more; Direct ignores it and has a thread for each operation
	Bound   bool // pins each thread to a processor; only CThreads can
}

func (o EngineOptions) open() (fileio.Engine, error) {
	if o.Bound && o.Name != CThreads {
		return nil, fmt.Errorf("engine %q cannot bind threads to processors: use %q", o.Name, CThreads)
	}
	switch o.Name {
	case Direct:
		return &direct.Engine{}, nil
	case Pool:
		return pooled.New(pooled.Options{Threads: o.Threads})
	case CThreads:
		return cthreads.New(cthreads.Options{Threads: o.Threads, Affinity: o.Bound})
	case URing:
		return uring.New(uring.Options{Threads: o.Threads})
	}
	return nil, fmt.Errorf("unknown engine %q: use one of %q", o.Name, Engines())
}

// CheckAvailable returns the reason why this machine cannot run the engine, or nil.
func (o EngineOptions) CheckAvailable() error {
	e, err := o.open()
	if err != nil {
		return err
	}
	return e.Close()
}
