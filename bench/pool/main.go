// Command pool measures muster's pool beside other ways to hand out tasks, as muster lab
// dispatch does, and prints Markdown: a table for each way, and the goals.
//
//	go run ./pool
//	go run ./pool -tasks 10000000 -rounds 11 -workers 8
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

	"muster/lab"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == probeArgument {
		if err := lab.Probe(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "pool:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "pool:", err)
		os.Exit(1)
	}
}

// probeArgument makes this program a probe process of lab.
const probeArgument = "probe"

func run(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("pool", flag.ContinueOnError)
	workers := f.Int("workers", 2, "workers of each pool")
	procs := f.Int("procs", 2, "GOMAXPROCS of the Go programs")
	tasks := f.Int("tasks", 1_000_000, "trivial tasks of one figure")
	rounds := f.Int("rounds", 7, "figures of each contestant")
	journal := f.String("out", "", "`file` for every single figure, fit for benchstat")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("there are no arguments besides flags: %q", f.Args())
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("no folder for what is compiled: set HOME: %w", err)
	}
	o := lab.DispatchOptions{Jobs: *workers, Tasks: []int{*tasks}, Procs: []int{*procs}}
	o.Count, o.Probe, o.Cache = *rounds, []string{self, probeArgument}, filepath.Join(cache, "muster", "contestants")
	o.Progress = func(p lab.Progress) { fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d: %s", p.Done, p.Total, p.Next) }
	if *journal != "" {
		to, err := os.Create(*journal)
		if err != nil {
			return err
		}
		defer to.Close()
		o.Journal = to
	}
	results, err := lab.Dispatch(ctx, o)
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	if err != nil {
		return err
	}
	(&contest{results, o, out}).print()
	printCrowds(out, *rounds)
	printSimulation(out)
	printIdle(out, *workers)
	return nil
}
