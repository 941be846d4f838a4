package probe

import (
	"fmt"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
)

// The engines of package fileio, by the names that [EngineOptions] knows.
const (
	Direct   = "direct"
	Pool     = "pool"
	CThreads = "cthreads"
	URing    = "uring"
)

// Engines are all there are, the one without a bound first.
func Engines() []string { return []string{Direct, Pool, CThreads, URing} }

// EngineOptions say which engine executes operations on files.
type EngineOptions struct {
	Name    string
	Threads int  // 1 or more; Direct has as many as there are operations
	Bound   bool // each thread to a processor, which CThreads alone can
}

func (o EngineOptions) open() (fileio.Engine, error) {
	if o.Bound && o.Name != CThreads {
		return nil, fmt.Errorf("threads of %q are not bound to processors: those of %q are", o.Name, CThreads)
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
	return nil, fmt.Errorf("no engine %q: there are %q", o.Name, Engines())
}

// Here returns why there can be no such engine here; nil if there can.
func (o EngineOptions) Here() error {
	e, err := o.open()
	if err != nil {
		return err
	}
	return e.Close()
}
