package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"muster/internal/readable"
)

// EnginesOptions configure a comparison of engines.
type EnginesOptions struct {
	// Load is the load for each server. Engines sets its Op, URL and Threads.
	Load Options

	Ops     []Op     // loads one after another on the same server
	Engines []string // the server's names of engines
	Rounds  int      // each round starts every engine once, beginning with another engine

	// Server returns the command of a server with an engine that stores its files in the
	// folder data. The server chooses its addresses and prints them on standard error, in
	// lines with "listening on http://…" and "admin on http://…". SIGTERM must end it.
	Server func(engine, data string) []string

	// FallbackText is a text that a server prints at its start if it uses another engine than
	// the requested one. The server then does not count. "" = no such text.
	FallbackText string

	// Note is a text below the tables, about the engines.
	Note string

	// Dir is the parent of the servers' folders, which are new and removed afterwards; "" =
	// the system's temporary folder.
	Dir string
}

// Comparison is the result of a load on several engines.
type Comparison struct {
	Load    Options
	Note    string
	Rows    []EngineRow
	Runs    []EngineRun
	Missing []MissingEngine
}

// EngineRun is one load on one engine.
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
	ThreadsPeak    int   // the maximum of all runs; 0 = not known
	Failed         int64 // sum of all runs
}

// MissingEngine is an engine that no server supported, or whose server failed.
type MissingEngine struct{ Engine, Reason string }

const roundsMax = 1000

// Engines runs the same load on one server after another: a process for each engine and round.
// It returns the measured part of the comparison also when the context ends or no engine could
// be measured.
func Engines(ctx context.Context, o EnginesOptions) (*Comparison, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Comparison{Load: o.Load, Note: o.Note}
	var broken error
	for round := range o.Rounds {
		for i := range o.Engines {
			engine := o.Engines[(i+round)%len(o.Engines)]
			if c.isMissing(engine) {
				continue
			}
			err := o.measure(ctx, c, engine, round+1)
			if ctx.Err() != nil {
				c.addRows(o)
				return c, ctx.Err()
			}
			if err != nil {
				c.Missing = append(c.Missing, MissingEngine{engine, err.Error()})
				broken = err
			}
		}
	}
	c.addRows(o)
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
		return inputf("%s: from 1 to %s are possible", readable.Count(o.Rounds, "round"), readable.Number(roundsMax))
	}
	for _, op := range o.Ops {
		if !slices.Contains(Ops(), op) {
			return inputf("no operation %q: there are %v", op, Ops())
		}
	}
	if dir := o.Dir; dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return inputf("%s is not a folder: create it, or name another one", dir)
		}
	}
	return nil
}

// measure starts a server with a new folder and runs all loads on it.
func (o EnginesOptions) measure(ctx context.Context, c *Comparison, engine string, round int) (err error) {
	data, err := os.MkdirTemp(o.Dir, "muster-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	s, err := startServer(ctx, o.Server(engine, data), o.FallbackText)
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

func (c *Comparison) isMissing(engine string) bool {
	return slices.ContainsFunc(c.Missing, func(m MissingEngine) bool { return m.Engine == engine })
}

// addRows adds a row for each operation and engine, from the runs that were not interrupted.
func (c *Comparison) addRows(o EnginesOptions) {
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

// Failed returns how many requests failed in all runs.
func (c *Comparison) Failed() (n int64) {
	for _, r := range c.Runs {
		n += r.Result.Failed
	}
	return n
}

// Text writes a table for each operation.
func (c *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	for i, t := range c.tables() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintln(&b, t.Caption)
		tab := tabwriter.NewWriter(&b, 0, 0, 3, ' ', tabwriter.AlignRight)
		for _, row := range append([][]string{t.Head}, t.Rows...) {
			fmt.Fprintln(tab, strings.Join(row, "\t")+"\t")
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	for _, note := range c.notes() {
		fmt.Fprintln(&b, note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table is a table of texts.
type table struct {
	Op      Op // empty for other tables
	Caption string
	Head    []string
	Rows    [][]string
}

// tables returns a table for each operation, with a row for each engine.
func (c *Comparison) tables() (list []table) {
	for _, row := range c.Rows {
		if len(list) == 0 || row.Op != list[len(list)-1].Op {
			list = append(list, table{row.Op, c.caption(row.Op), []string{"mode", "ms", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "OS threads", "failed"}, nil})
		}
		number := func(d string) string { return strings.TrimSuffix(d, " ms") }
		threads := "not known"
		if row.ThreadsPeak > 0 {
			threads = readable.Number(row.ThreadsPeak)
		}
		t := &list[len(list)-1]
		t.Rows = append(t.Rows, []string{
			row.Engine, readable.Number(row.Wall.Milliseconds()), readable.Number(int64(math.Round(row.PerSecond))),
			number(Milliseconds(row.P50)), number(Milliseconds(row.P99)), number(Milliseconds(row.P999)), threads, readable.Number(row.Failed),
		})
	}
	return list
}

func (c *Comparison) caption(op Op) string {
	o := c.Load
	r := Result{Op: op, Protocol: o.Protocol, Connections: o.Connections, Requests: int64(o.Requests), Size: o.Size, Rate: o.Rate}
	for _, run := range c.Runs { // the values with defaults
		if run.Result.Op == op {
			r.Protocol, r.Size = run.Result.Protocol, run.Result.Size
		}
	}
	rounds := 0 // completed rounds: an interrupt may have prevented some
	for _, row := range c.Rows {
		if row.Op == op {
			rounds = max(rounds, row.Runs)
		}
	}
	if rounds < 2 {
		return r.title()
	}
	return fmt.Sprintf("%s; medians of %d rounds", r.title(), rounds)
}

// notes explain the engines, which of them are not in the tables, and why requests failed.
func (c *Comparison) notes() (list []string) {
	if c.Note != "" {
		list = append(list, c.Note)
	}
	for _, m := range c.Missing {
		list = append(list, fmt.Sprintf("%s: %s", m.Engine, m.Reason))
	}
	for _, run := range c.Runs {
		if len(run.Result.Failures) > 0 {
			f := run.Result.Failures[0]
			list = append(list, fmt.Sprintf("%s, round %d, %s: %d failed, most of them: %s", run.Engine, run.Round, run.Result.Op, run.Result.Failed, f.Reason))
		}
	}
	return list
}

// engineLine is the JSON of a row.
type engineLine struct {
	Type        string  `json:"type"`
	Engine      string  `json:"engine"`
	Op          Op      `json:"op"`
	Rounds      int     `json:"rounds"`
	WallMS      float64 `json:"wall_ms"`
	PerSecond   float64 `json:"requests_per_s"`
	P50         float64 `json:"p50_ms"`
	P99         float64 `json:"p99_ms"`
	P999        float64 `json:"p999_ms"`
	ThreadsPeak *int    `json:"threads_peak"`
	Failed      int64   `json:"failed"`
}

type missingLine struct {
	Type    string `json:"type"`
	Engine  string `json:"engine"`
	Missing string `json:"missing"`
}

// JSON writes a line for each load, then one for each row.
func (c *Comparison) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	for _, run := range c.Runs {
		l := run.Result.line()
		l.Engine, l.Round = run.Engine, run.Round
		if err := encoder.Encode(l); err != nil {
			return err
		}
	}
	for _, row := range c.Rows {
		l := engineLine{
			Type: "engine", Engine: row.Engine, Op: row.Op, Rounds: row.Runs, WallMS: millis(row.Wall), PerSecond: row.PerSecond,
			P50: millis(row.P50), P99: millis(row.P99), P999: millis(row.P999), Failed: row.Failed,
		}
		if row.ThreadsPeak > 0 {
			l.ThreadsPeak = &row.ThreadsPeak
		}
		if err := encoder.Encode(l); err != nil {
			return err
		}
	}
	for _, m := range c.Missing {
		if err := encoder.Encode(missingLine{"engine", m.Engine, m.Reason}); err != nil {
			return err
		}
	}
	return nil
}
