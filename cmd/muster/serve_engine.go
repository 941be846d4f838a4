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

// serveEngine selects the engine for jobs on files and its threads.
type serveEngine struct {
	kind           string
	threads, light int
	affinity       bool
}

// The values of --io.
const (
	ioPool     = "pool"
	ioCThreads = "cthreads"
	ioURing    = "uring"
	ioDirect   = "direct"
)

func (e *serveEngine) flags(f *pflag.FlagSet) {
	f.StringVar(&e.kind, "io", ioPool, "execute file operations with `ENGINE`: pool, cthreads (threads in C), uring (io_uring) or direct (a thread per operation)")
	f.IntVar(&e.threads, "io-threads", 32, "start `N` threads for file operations")
	f.IntVar(&e.light, "prior-io-threads", 4, "start `N` more threads for operations on names, which then do not wait behind data; 0 = none")
	f.BoolVar(&e.affinity, "cpu-affinity", false, "bind each thread of cthreads to a processor")
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

// open starts the engine and logs its threads. If another engine replaces it, open prints that
// on stderr at once, because muster load engines searches the output for it.
func (e *serveEngine) open(log *slog.Logger, stderr io.Writer) (fileio.Engine, error) {
	if e.affinity && e.kind != ioCThreads {
		log.Warn("cpu-affinity is ignored: only --io cthreads supports it", "io", e.kind)
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
	log.Info("a pool of goroutines executes file operations", "threads", e.threads, "prior", e.light)
	return engine, nil
}

// poolInstead is the text that reports the replacement.
const poolInstead = ioPool + " instead of " + ioURing

// openURing falls back to the pool if io_uring is unavailable.
func (e *serveEngine) openURing(log *slog.Logger, stderr io.Writer) (fileio.Engine, error) {
	engine, err := uring.New(uring.Options{Threads: e.threads, Light: e.light})
	if errors.Is(err, uring.ErrUnavailable) {
		log.Warn("io_uring is unavailable, so a pool of goroutines executes file operations", "reason", err)
		fmt.Fprintf(stderr, "%s: %v\n", poolInstead, err)
		return e.openPool(log)
	}
	if err != nil {
		return nil, fmt.Errorf("--io %s: %w", ioURing, err)
	}
	log.Info("io_uring executes file operations", "threads", e.threads, "prior", e.light)
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
