package load

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"muster/internal/readable"
	"strings"
	"text/tabwriter"
)

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
	Caption string
	Head    []string
	Rows    [][]string
}

// tables returns a table for each operation, with a row for each engine.
func (c *Comparison) tables() (list []table) {
	for _, row := range c.Rows {
		if len(list) == 0 || c.caption(row.Op) != list[len(list)-1].Caption {
			list = append(list, table{c.caption(row.Op), []string{"mode", "ms", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "OS threads", "failed"}, nil})
		}
		number := func(d string) string { return strings.TrimSuffix(d, " ms") }
		threads := "not known"
		if row.ThreadsPeak > 0 {
			threads = readable.Number(row.ThreadsPeak)
		}
		t := &list[len(list)-1]
		t.Rows = append(t.Rows, []string{
			row.Engine, readable.Number(row.Wall.Milliseconds()), readable.Number(int64(math.Round(row.PerSecond))),
			number(ms(row.P50)), number(ms(row.P99)), number(ms(row.P999)), threads, readable.Number(row.Failed),
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

// notes explain which engines are not in the tables, and why requests failed.
func (c *Comparison) notes() (list []string) {
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
