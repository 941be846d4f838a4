package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// EnginesOptions of a comparison.
type EnginesOptions struct {
	// Load is what each server is put under; its Op, URL and Threads are set here.
	Load Options

	Ops     []Op     // one after another with the same server
	Engines []string // as the server calls them
	Rounds  int      // each starts every engine once, the first engine each time another

	// Server returns the command that serves the folder data by an engine, on addresses
	// that it chooses itself and tells on standard error, in lines with "listening on
	// http://…" and "admin on http://…"; a SIGTERM must end it.
	Server func(engine, data string) []string

	// Instead is in what a server says, before it says where it is, that has another engine
	// than it was asked for: its figures would be another's. "" = none says so.
	Instead string

	// Dir is where the folders of the servers are made, each of which is new and removed
	// afterwards; "" = where the system has temporary files.
	Dir string
}

// Comparison is what came of a load with several engines.
type Comparison struct {
	Load    Options
	Rounds  int
	Rows    []EngineRow
	Runs    []EngineRun
	Missing []MissingEngine
}

// EngineRun is one load.
type EngineRun struct {
	Engine string
	Round  int // from 1 on
	Result *Result
}

// EngineRow has the medians of one engine's runs.
type EngineRow struct {
	Engine string
	Op     Op
	Runs   int

	Wall           time.Duration
	PerSecond      float64
	P50, P99, P999 time.Duration
	ThreadsPeak    int   // of all runs; 0 = not known
	Failed         int64 // in all runs
}

// MissingEngine is one that no server had, or whose server failed.
type MissingEngine struct{ Engine, Reason string }

const roundsMax = 1000

// Engines puts one server after another under the same load: a process for each engine
// and round. What was done is in the comparison also where the error is that the context
// ended, or that no engine could be had at all.
func Engines(ctx context.Context, o EnginesOptions) (*Comparison, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Comparison{Load: o.Load, Rounds: o.Rounds}
	var broken error
	for round := range o.Rounds {
		for i := range o.Engines {
			engine := o.Engines[(i+round)%len(o.Engines)]
			if c.misses(engine) {
				continue
			}
			err := o.measure(ctx, c, engine, round+1)
			if ctx.Err() != nil {
				c.sum(o)
				return c, ctx.Err()
			}
			if err != nil {
				c.Missing = append(c.Missing, MissingEngine{engine, err.Error()})
				broken = err
			}
		}
	}
	c.sum(o)
	if len(c.Rows) == 0 {
		return c, fmt.Errorf("no engine could be measured: %w", broken)
	}
	return c, nil
}

func (o EnginesOptions) check() error {
	load := o.Load
	load.URL = "http://127.0.0.1"
	if _, err := load.complete(); err != nil {
		return err
	}
	switch {
	case len(o.Ops) == 0 || len(o.Engines) == 0:
		return inputf("no operation, or no engine, to measure")
	case o.Rounds < 1 || o.Rounds > roundsMax:
		return inputf("%d rounds: from 1 to %d are possible", o.Rounds, roundsMax)
	}
	for _, op := range o.Ops {
		if !slices.Contains(Ops(), op) {
			return inputf("no operation %q: there are %v", op, Ops())
		}
	}
	if dir := o.Dir; dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return inputf("%s is no folder: make it, or name another", dir)
		}
	}
	return nil
}

// measure starts a server over a new folder and puts it under all loads.
func (o EnginesOptions) measure(ctx context.Context, c *Comparison, engine string, round int) (err error) {
	data, err := os.MkdirTemp(o.Dir, "muster-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	s, err := startServer(ctx, o.Server(engine, data), o.Instead)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, op := range o.Ops {
		load := o.Load
		load.Op, load.URL, load.Threads = op, s.url, Threads{Admin: s.admin}
		if show := o.Load.Progress; show != nil {
			load.Progress = func(p Progress) {
				p.What = fmt.Sprintf("round %d of %d, %s: %s", round, o.Rounds, engine, op)
				show(p)
			}
		}
		result, err := Run(ctx, load)
		if result != nil {
			c.Runs = append(c.Runs, EngineRun{engine, round, result})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Comparison) misses(engine string) bool {
	return slices.ContainsFunc(c.Missing, func(m MissingEngine) bool { return m.Engine == engine })
}

// sum makes a row of each engine's runs that were not interrupted.
func (c *Comparison) sum(o EnginesOptions) {
	for _, op := range o.Ops {
		for _, engine := range o.Engines {
			var list []*Result
			for _, r := range c.Runs {
				if r.Engine == engine && r.Result.Op == op && !r.Result.Interrupted {
					list = append(list, r.Result)
				}
			}
			if len(list) > 0 {
				c.Rows = append(c.Rows, rowOf(engine, op, list))
			}
		}
	}
}

func rowOf(engine string, op Op, list []*Result) EngineRow {
	row := EngineRow{Engine: engine, Op: op, Runs: len(list)}
	duration := func(of func(*Result) time.Duration) time.Duration {
		return time.Duration(median(list, func(r *Result) float64 { return float64(of(r)) }))
	}
	row.Wall = duration(func(r *Result) time.Duration { return r.Wall })
	row.P50 = duration(func(r *Result) time.Duration { return r.Latency.P50 })
	row.P99 = duration(func(r *Result) time.Duration { return r.Latency.P99 })
	row.P999 = duration(func(r *Result) time.Duration { return r.Latency.P999 })
	row.PerSecond = median(list, (*Result).PerSecond)
	for _, r := range list {
		row.ThreadsPeak = max(row.ThreadsPeak, r.ThreadsPeak)
		row.Failed += r.Failed
	}
	return row
}

func median(list []*Result, of func(*Result) float64) float64 {
	var values []float64
	for _, r := range list {
		values = append(values, of(r))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// Failed is how many requests failed in all.
func (c *Comparison) Failed() (n int64) {
	for _, r := range c.Runs {
		n += r.Result.Failed
	}
	return n
}
