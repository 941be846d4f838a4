// Command remote measures what muster takes as a client of a Remote Execution engine: CPU,
// memory, requests and bytes for a case, and how near it comes to what the engine can do. It
// starts the engine by scripts/remote-engine and prints Markdown.
//
//	go run ./remote -muster ../bin/muster
//	go run ./remote -muster ../bin/muster -tiny
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"muster/lab/corpora"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "remote:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	muster, script, address, work string

	tiny     bool
	rounds   int
	executed int          // cases of a round that the engine itself executes
	sizes    []int        // cases of the corpora of small sources; the last is the one that is timed
	large    corpora.Spec // the corpus of large sources
	jobs     []int        // jobs of [engine] beside the default
	progress io.Writer
}

func parse(args []string, usage io.Writer) (o options, err error) {
	o = options{sizes: []int{1_000, 5_000, 15_000}, large: corpora.Large(), jobs: []int{8, 256}, progress: usage}
	f := flag.NewFlagSet("remote", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.muster, "muster", "../bin/muster", "the program to measure")
	f.StringVar(&o.script, "script", "../scripts/remote-engine", "what starts the engine")
	f.StringVar(&o.address, "address", "", "`HOST:PORT` of an engine that runs already, in the place of one of its own")
	f.StringVar(&o.work, "work", "/dev/shm", "folder to work in, best in memory: 6 GB")
	f.IntVar(&o.rounds, "rounds", 3, "rounds of what is timed")
	f.IntVar(&o.executed, "executed", 400, "cases of a round that the engine executes")
	f.BoolVar(&o.tiny, "tiny", false, "a few cases of everything: figures that mean nothing, in seconds")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.executed < 1 || f.NArg() > 0 {
		return o, errors.New("-rounds and -executed are at least 1, and nothing else is taken")
	}
	if o.tiny {
		o.rounds, o.executed, o.sizes = 1, min(o.executed, 5), []int{5, 20}
		o.large.Cases, o.large.Bytes, o.jobs = 20, 3<<20, []int{8}
	}
	o.muster, err = filepath.Abs(o.muster)
	return o, err
}

func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	b := &bench{options: o, out: out}
	if b.dir, err = os.MkdirTemp(o.work, "muster-remote-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.engine, err = b.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.engine.stop()) }()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.wire.close(), b.bare.close()) }()
	return b.measure(ctx)
}
