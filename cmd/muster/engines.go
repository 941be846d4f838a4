package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/fileio"
	"muster/fileio/cthreads"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/fileio/uring"
	"muster/files/load"
	"muster/regress/doctor"
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
	if kinds := []string{ioPool, ioCThreads, ioURing, ioDirect}; !slices.Contains(kinds, e.kind) {
		return usagef("--io %q%s: pool, cthreads, uring and direct are possible", e.kind, suggest(e.kind, kinds))
	}
	if e.threads < 1 || e.threads > fileio.ThreadsMax || e.light < 0 || e.light > fileio.ThreadsMax {
		return usagef("--io-threads %d, --prior-io-threads %d: from 1 and 0 to %d are possible", e.threads, e.light, fileio.ThreadsMax)
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

// engineFindings reports which engines this machine and this build allow.
func engineFindings() []doctor.Finding {
	ring := doctor.Finding{Name: "io_uring", For: doctor.Service, Text: "--io uring is possible"}
	if e, err := uring.New(uring.Options{Threads: 1}); err != nil {
		ring.State, ring.Text = doctor.Limited, errorText(err)
		ring.Mend = "use --io pool, the default; io_uring needs Linux 5.15, sysctl kernel.io_uring_disabled=0, and a container that allows it"
	} else {
		_ = e.Close() // it has done nothing
	}
	threads := doctor.Finding{Name: "C threads", For: doctor.Service, Text: "--io cthreads is possible"}
	if e, err := cthreads.New(cthreads.Options{Threads: 1}); err != nil {
		threads.State, threads.Text = doctor.Limited, errorText(err)
	} else {
		_ = e.Close() // likewise
	}
	return []doctor.Finding{ring, threads}
}

// engineFlags configure the servers of load engines.
type engineFlags struct {
	ops       []string
	ioThreads int
	sync      string
}

// enginesArgs are the defaults: the article's load with fewer requests. The article's 200,000
// requests suit disks that take minutes.
var enginesArgs = []string{"500", "20000", "50K"}

func (p *program) loadEngines() *cobra.Command {
	var l loadFlags
	var e engineFlags
	o := load.EnginesOptions{}
	c := &cobra.Command{
		Use:   "engines [CONCURRENCY [REQUESTS [SIZE]]] [flags]",
		Short: "Compare the engines of serve under the same load",
		Long: `Engines starts muster serve with one engine after another, each time as a new process with
a new folder. Each server gets the same load. By default 500 connections write 20,000 files
of 50 KiB and read them. The table shows medians of several rounds, and the most OS threads
that a server had. Unavailable engines are listed with the reason.

The article that load and serve follow compares three servers. Its server without a pool is the
engine direct, its pool in Go is pool, and its pool in C is cthreads. It has nothing like uring.`,
		Example: `  muster load engines
  muster load engines 500 200000 50K --data /mnt/slow --html engines.html
  muster load engines --engines direct,pool --op upload,delete --rounds 5`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > len(enginesArgs) {
				return usagef("engines takes [CONCURRENCY [REQUESTS [SIZE]]], not %q", strings.Join(args, " "))
			}
			if err := parseLoad(append(args, enginesArgs[len(args):]...), &o.Load); err != nil {
				return err
			}
			return p.compareEngines(c, &l, &e, o)
		},
	}
	c.DisableFlagsInUseLine = true
	l.add(c.Flags(), &o.Load)
	e.add(c.Flags(), &o)
	return c
}

func (e *engineFlags) add(f *pflag.FlagSet, o *load.EnginesOptions) {
	f.StringSliceVar(&e.ops, "op", []string{string(load.Upload), string(load.Download)}, "run these `OPERATIONS` on each server, in this order")
	f.StringSliceVar(&o.Engines, "engines", enginesKnown(), "compare these `ENGINES`, as serve --io names them")
	f.IntVar(&o.Rounds, "rounds", 3, "start each engine `N` times, in turns, and show medians")
	f.StringVar(&o.Dir, "data", "", "store the servers' files below `DIR` and delete them afterwards (default: the system's temporary folder)")
	f.IntVar(&e.ioThreads, "io-threads", 32, "start `N` threads for file operations in each server, if the engine limits its threads")
	f.StringVar(&e.sync, "sync", "none", "flush files to the disk `WHEN`: none, fdatasync or group")
}

// articleServers says which engine is which server of the article that load and serve follow.
const articleServers = "In the article, direct is the server without a pool, pool the one with a pool in Go, and cthreads the one with a pool in C."

// enginesKnown returns all engines, in the order of measuring.
func enginesKnown() []string { return []string{ioDirect, ioPool, ioCThreads, ioURing} }

func (p *program) compareEngines(c *cobra.Command, l *loadFlags, e *engineFlags, o load.EnginesOptions) error {
	if err := checkFiles(map[string]string{"--html": l.html}); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, engine := range o.Engines {
		if !slices.Contains(enginesKnown(), engine) {
			return usagef("--engines: no engine %q%s: there are %s", engine, suggest(engine, enginesKnown()), strings.Join(enginesKnown(), ", "))
		}
	}
	if _, err := parseSync(e.sync); err != nil {
		return err
	}
	if e.ioThreads < 1 || e.ioThreads > fileio.ThreadsMax {
		return usagef("--io-threads %d: from 1 to %d are possible", e.ioThreads, fileio.ThreadsMax)
	}
	for _, op := range e.ops {
		o.Ops = append(o.Ops, load.Op(strings.TrimSpace(op)))
	}
	o.FallbackText, o.Note = poolInstead, articleServers
	o.Server = func(engine, data string) []string {
		return []string{
			self, "serve", "--addr", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", data,
			"--io", engine, "--io-threads", strconv.Itoa(e.ioThreads), "--sync", e.sync,
		}
	}
	end := p.prepare(l, &o.Load)
	comparison, err := load.Engines(c.Context(), o)
	end()
	if comparison == nil {
		return loadError(err)
	}
	if len(comparison.Runs) > 0 {
		err = errors.Join(loadError(err), p.showReport(l.html, l.format, comparison))
	}
	if err == nil && comparison.Failed() > 0 {
		return statusError(1)
	}
	return err
}
