// Command cost measures how reliably muster check detects the cost of a change: how often it
// reports a higher cost of the same program, and how often it finds 5 % more work. Every round is a
// check of its own, with fresh copies of the programs, because their place in memory makes a
// difference too.
//
//	go run ./cost -muster ../bin/muster -rounds 100
//	go run ./cost -muster ../bin/muster -rounds 10 -pairs pairs.csv
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

// options are the options of the command line.
type options struct {
	muster, work, pairs string
	rounds, cases, plus int
}

// parse reads the command line, and refuses options that would measure nothing.
func parse(args []string, usage io.Writer) (o options, err error) {
	f := flag.NewFlagSet("cost", flag.ContinueOnError)
	f.SetOutput(usage)
	f.StringVar(&o.muster, "muster", "../bin/muster", "the program to measure")
	f.StringVar(&o.work, "work", "/dev/shm", "folder to work in, best in memory")
	f.StringVar(&o.pairs, "pairs", "", "write the pairs of the rounds of the same program to `FILE`, as CSV")
	f.IntVar(&o.rounds, "rounds", 100, "rounds of either kind")
	f.IntVar(&o.cases, "cases", 150, "cases of the corpus")
	f.IntVar(&o.plus, "plus", 50, "thousandths of more work to be found")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.cases < 1 || o.plus < 0 || f.NArg() > 0 {
		return o, errors.New("-rounds and -cases must be 1 or more, -plus 0 or more, and nothing else is taken")
	}
	o.muster, err = filepath.Abs(o.muster)
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.work, "muster-cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{options: o, dir: dir}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	same, more, err := b.measure(ctx)
	if err != nil {
		return err
	}
	report(out, o, same, more)
	return nil
}

// measure runs both kinds of rounds in turns.
func (b *bench) measure(ctx context.Context) (same, more []result, err error) {
	var pairs io.WriteCloser
	if b.pairs != "" {
		if pairs, err = os.Create(b.pairs); err != nil {
			return nil, nil, err
		}
		defer pairs.Close()
	}
	for round := range b.rounds {
		s, err := b.round(ctx, "same")
		if err != nil {
			return nil, nil, err
		}
		m, err := b.round(ctx, "more")
		if err != nil {
			return nil, nil, err
		}
		same, more = append(same, s), append(more, m)
		if pairs != nil {
			if err := writePairs(pairs, round, s.pairs); err != nil {
				return nil, nil, err
			}
		}
	}
	return same, more, nil
}
