package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
)

// serveEngine say which engine executes jobs on files, and on how many threads.
type serveEngine struct {
	kind           string
	threads, light int
	affinity       bool
}

// The engines, as --io names them.
const (
	ioPool     = "pool"
	ioCThreads = "cthreads"
	ioURing    = "uring"
	ioDirect   = "direct"
)

func (e *serveEngine) flags(f *pflag.FlagSet) {
	f.StringVar(&e.kind, "io", ioPool, "do file operations with `ENGINE`: pool, cthreads (threads in C), uring (io_uring), direct (as many threads as operations)")
	f.IntVar(&e.threads, "io-threads", 32, "start `N` threads for file operations")
	f.IntVar(&e.light, "prior-io-threads", 4, "start `N` more of them for names alone, which do not wait behind data; 0 = none")
	f.BoolVar(&e.affinity, "cpu-affinity", false, "bind each thread in C to a processor")
}

func (e *serveEngine) check() error {
	switch e.kind {
	case ioPool, ioCThreads, ioURing, ioDirect:
	default:
		return usagef("--io %q%s: pool, cthreads, uring and direct are possible", e.kind, suggest(e.kind, []string{ioPool, ioCThreads, ioURing, ioDirect}))
	}
	if e.threads < 1 || e.threads > pooled.ThreadsMax || e.light < 0 || e.light > pooled.ThreadsMax {
		return usagef("--io-threads %d, --prior-io-threads %d: from 1 and 0 to %d are possible", e.threads, e.light, pooled.ThreadsMax)
	}
	return nil
}

// open starts the engine, and logs what threads it has. Where another one stands in for it
// stderr is told, at once: muster load engines looks for that.
func (e *serveEngine) open(log *slog.Logger, stderr io.Writer) (fileio.Engine, error) {
	if e.affinity && e.kind != ioCThreads {
		log.Warn("cpu-affinity is for threads in C alone, and does nothing here", "io", e.kind)
	}
	switch e.kind {
	case ioDirect:
		return &direct.Engine{}, nil
	case ioCThreads:
		return e.openCThreads(log)
	case ioURing:
		return e.openURing(log, stderr)
	}
	return e.openPool(log)
}

func (e *serveEngine) openPool(log *slog.Logger) (fileio.Engine, error) {
	engine, err := pooled.New(pooled.Options{Threads: e.threads, Light: e.light})
	if err != nil {
		return nil, usagef("--io-threads: %w", err)
	}
	log.Info("file operations are executed by a pool of goroutines", "threads", e.threads, "prior", e.light)
	return engine, nil
}

// poolInstead is what is said then.
const poolInstead = ioPool + " instead of " + ioURing

// openURing takes the pool where there is no io_uring.
func (e *serveEngine) openURing(log *slog.Logger, stderr io.Writer) (fileio.Engine, error) {
	engine, err := uring.New(uring.Options{Threads: e.threads, Light: e.light})
	if errors.Is(err, uring.ErrUnavailable) {
		log.Warn("there is no io_uring here, so file operations are executed by a pool of goroutines", "reason", err)
		fmt.Fprintf(stderr, "%s: %v\n", poolInstead, err)
		return e.openPool(log)
	}
	if err != nil {
		return nil, fmt.Errorf("--io %s: %w", ioURing, err)
	}
	log.Info("file operations are executed by io_uring", "threads", e.threads, "prior", e.light)
	return engine, nil
}

func (e *serveEngine) openCThreads(log *slog.Logger) (fileio.Engine, error) {
	engine, err := cthreads.New(cthreads.Options{
		Threads: e.threads, Light: e.light, Affinity: e.affinity,
	})
	if errors.Is(err, cthreads.ErrNotBuiltIn) {
		return nil, usagef("--io %s: %w", ioCThreads, err)
	}
	if err != nil {
		return nil, fmt.Errorf("--io %s: %w", ioCThreads, err)
	}
	for _, t := range engine.Threads() {
		log.Info("a thread for file operations", "id", t.ID, "cpu", t.CPU, "prior", t.Light)
	}
	return engine, nil
}
