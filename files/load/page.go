package load

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
)

// HTML writes the result and its course as one self-contained page.
func (r *Result) HTML(w io.Writer) error {
	d := page.Document{Title: "muster load " + string(r.Op), Lead: []string{r.title()}}
	d.Conditions = []page.Pair{{Name: "Server", Value: r.URL}}
	facts := table{Op: r.Op, Head: []string{"", "result"}}
	fact := func(name, value string) { facts.Rows = append(facts.Rows, []string{name, value}) }
	if r.Interrupted {
		fact("Interrupted", r.interrupted())
	}
	fact("Successes", readable.Number(r.Succeeded))
	fact("Failures", readable.Number(r.Failed))
	fact("Cost", readable.Number(r.Wall.Milliseconds())+" ms")
	fact("Elapsed", elapsed(r.Wall))
	fact("Requests each second", readable.Number(int64(math.Round(r.PerSecond()))))
	if r.MBPerSecond() > 0 {
		fact("MB/s", fmt.Sprintf("%.1f", r.MBPerSecond()))
	}
	fact("OS threads of the server", r.threads())
	d.Sections = append(d.Sections, page.Section{Title: "Result", Tables: []page.Table{facts.onPage()}})
	if l := r.Latency; l.Max > 0 {
		latency := table{Head: []string{"p50", "p90", "p99", "p99.9", "max"}, Rows: [][]string{{Milliseconds(l.P50), Milliseconds(l.P90), Milliseconds(l.P99), Milliseconds(l.P999), Milliseconds(l.Max)}}}
		d.Sections = append(d.Sections, page.Section{Title: "Latency", Tables: []page.Table{latency.onPage()}, Charts: append(histogramChart(r.fine),
			overTime("Latency", plot.Axis{Label: "ms", Log: true},
				r.timeLine("p50", func(i Interval) float64 { return millis(i.Latency.P50) }),
				r.timeLine("p99", func(i Interval) float64 { return millis(i.Latency.P99) }),
				r.timeLine("max", func(i Interval) float64 { return millis(i.Latency.Max) }))...)})
	}
	if len(r.Failures) > 0 {
		t := table{Head: []string{"requests", "reason"}}
		for _, f := range r.Failures {
			t.Rows = append(t.Rows, []string{readable.Number(f.Count), f.Reason})
		}
		d.Sections = append(d.Sections, page.Section{Title: "Why requests failed", Tables: []page.Table{t.onPage()}})
	}
	d.Sections = append(d.Sections, page.Section{Title: "Course", Charts: append(
		overTime("Requests each second", plot.Axis{Label: "requests/s"}, r.timeLine("successes", Interval.PerSecond), r.timeLine("failures", func(i Interval) float64 {
			return float64(i.Failed) / max(i.Length, time.Millisecond).Seconds()
		})),
		overTime("OS threads of the server", plot.Axis{Label: "threads"}, r.timeLine("threads", threadsAt))...)})
	return page.HTML(w, d)
}

func threadsAt(i Interval) float64 { return float64(i.Threads) }

// timeLine returns a value at the middle of each interval. It omits a short rest at the end if
// there are other intervals.
func (r *Result) timeLine(name string, value func(Interval) float64) plot.Line {
	l := plot.Line{Name: name}
	for n, i := range r.Timeline {
		if n > 0 && n == len(r.Timeline)-1 && i.Length < intervalFirst/2 {
			break
		}
		l.Points = append(l.Points, plot.Point{X: (i.At + i.Length/2).Seconds(), Y: value(i)})
	}
	return l
}

// overTime returns a chart of values over the time of a load, or none without a value above 0: the threads of a
// server may be unknown.
func overTime(title string, y plot.Axis, lines ...plot.Line) []plot.Chart {
	isKnown := false
	for _, l := range lines {
		isKnown = isKnown || slices.ContainsFunc(l.Points, func(p plot.Point) bool { return p.Y > 0 })
	}
	if !isKnown {
		return nil
	}
	return plot.Chart{Title: title, X: plot.Axis{Label: "seconds"}, Y: y, Lines: lines}.Drawable()
}

// HTML writes a table for each operation, and the course of each engine's last load, as one page.
func (c *Comparison) HTML(w io.Writer) error {
	d := page.Document{Title: "muster load engines"}
	for _, t := range c.tables() {
		last := map[string]*Result{}
		var engines []string
		for _, run := range c.Runs {
			if run.Result.Op != t.Op {
				continue
			}
			if last[run.Engine] == nil {
				engines = append(engines, run.Engine)
			}
			last[run.Engine] = run.Result
		}
		lines := func(value func(Interval) float64) (list []plot.Line) {
			for _, e := range engines {
				list = append(list, last[e].timeLine(e, value))
			}
			return list
		}
		slowest := overTime("p99 in the last round", plot.Axis{Label: "ms", Log: true}, lines(func(i Interval) float64 { return millis(i.Latency.P99) })...)
		threads := overTime("OS threads in the last round", plot.Axis{Label: "threads"}, lines(threadsAt)...)
		d.Sections = append(d.Sections, page.Section{Title: string(t.Op), Tables: []page.Table{t.onPage()}, Charts: append(slowest, threads...)})
	}
	if notes := c.notes(); len(notes) > 0 {
		d.Sections = append(d.Sections, page.Section{Title: "Notes", Notes: notes})
	}
	return page.HTML(w, d)
}

// onPage returns the table for a page. Its first column has names unless all columns have numbers.
func (t table) onPage() page.Table {
	p := page.Table{Caption: t.Caption}
	for i, head := range t.Head {
		isText := i == 0 && t.Op != "" || head == "reason"
		p.Columns = append(p.Columns, page.Column{Title: head, Right: !isText})
	}
	for _, row := range t.Rows {
		p.Rows = append(p.Rows, page.Row(row...))
	}
	return p
}
