// Command scale measures what muster does with a million cases on an engine with thousands of
// slots. The engine is a process of its own that runs no tool, so that muster limits the run. From
// measured parts it computes what more cores would give, and checks that on one and two cores. It
// prints Markdown.
//
//	go run ./scale -muster ../bin/muster
//	go run ./scale -muster ../bin/muster -cases 20000 -part 5000 -rounds 1
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
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	muster, work  string
	cases, part   int
	rounds, slots int
	rows, repeat  int
	takes         time.Duration
	only          string
	runs, keep    string
	asEngine      bool
	profile       profileOf
	progress      io.Writer
}

func parse(args []string, usage io.Writer) (o options, err error) {
	o.progress = usage
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.muster, "muster", "../bin/muster", "the program to measure")
	f.StringVar(&o.work, "work", "/dev/shm", "folder to work in, best in memory: 4 GB for a million cases")
	f.IntVar(&o.cases, "cases", 1_000_000, "cases of the large runs")
	f.IntVar(&o.part, "part", 100_000, "cases of the runs that the model is made from and checked by")
	f.IntVar(&o.rounds, "rounds", 3, "rounds of everything; the tables have medians")
	f.IntVar(&o.repeat, "repeat", 1, "runs of each case in the large runs, by record --repeat and check --runs")
	f.IntVar(&o.slots, "slots", 2000, "actions that the engine runs at once")
	f.DurationVar(&o.takes, "takes", 200*time.Millisecond, "time of an action in its slot")
	f.StringVar(&o.only, "only", "", "measure only the large runs of `record` or check, or the model")
	f.StringVar(&o.keep, "keep", "", "work in `DIR`, and go on with the corpus and the golden that are there")
	f.StringVar(&o.runs, "runs", "", "keep each row in `FILE` as soon as it is measured, and measure only what is not there")
	f.IntVar(&o.rows, "rows", -1, "end after `N` rows of -runs; -1 is all")
	f.BoolVar(&o.asEngine, "engine", false, "be the engine, until TERM: print its address, at the end what the client did")
	f.StringVar(&o.profile.command, "profile", "", "run `COMMAND` of muster in this process for a profile of its CPU; the other flags come from the benchmark")
	f.StringVar(&o.profile.dir, "profile-dir", "", "folder of that run")
	f.StringVar(&o.profile.address, "profile-engine", "", "engine of that run; empty for lanes")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if min(o.rounds, o.cases, o.part, o.repeat, o.slots) < 1 || f.NArg() > 0 {
		return o, errors.New("-rounds, -cases, -part, -repeat and -slots are at least 1, and nothing else is taken")
	}
	if o.rows >= 0 && (o.keep == "" || o.runs == "") {
		return o, errors.New("-rows goes on where the last benchmark ended: -keep and -runs say where")
	}
	o.muster, err = filepath.Abs(o.muster)
	return o, err
}

func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	o, err := parse(args, progress)
	switch {
	case err != nil:
		return err
	case o.asEngine:
		return serve(ctx, newEngine(o.slots, o.takes), out)
	case o.profile.command != "":
		return profiled(ctx, o)
	}
	b := &bench{options: o}
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir = o.keep; b.dir == "" {
		if b.dir, err = os.MkdirTemp(o.work, "muster-scale-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	}
	m, err := b.measure(ctx)
	if err != nil {
		return err
	}
	return m.print(out, o)
}
