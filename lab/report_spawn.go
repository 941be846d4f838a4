package lab

import (
	"fmt"
	"math"
	"strconv"

	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/page"
	"muster/lab/results"
	"muster/lab/stat"
)

// SpawnReport reports the results of [Spawn].
func SpawnReport(of *Results, o SpawnOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of a goroutine",
		"Functions that compute square roots are called in a loop, and in goroutines: each call in its own goroutine, which sends the result over a channel. All goroutines start before the first result is taken. Times include garbage collection.",
		howMeasured(o.Count))
	for _, procs := range o.Procs {
		d.Sections = append(d.Sections, r.spawnSection(o, procs))
	}
	d.Sections = append(d.Sections, r.breakEvenSection(o), r.memorySection(o))
	if peers := r.impls(); len(peers) > 1 {
		d.Sections = append(d.Sections, r.peersSection(o, peers))
	}
	return Report{document: d}
}

// slowdown returns the time of goroutines ÷ the time of the loop, round by round.
func (r view) slowdown(work, count, procs int) stat.Summary {
	return r.Ratio(SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, directCalls(work), procs), results.NsPerOp)
}

func (r view) spawnSection(o SpawnOptions, procs int) page.Section {
	s := page.Section{Title: fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs)}
	var titles, all []string
	for _, work := range o.Work {
		titles = append(titles, rootsText(work))
	}
	t := page.Table{Caption: "time in goroutines ÷ time in a loop", Columns: newColumns("goroutines", titles...)}
	chart := plot.Chart{
		Title: fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs),
		X:     plot.Axis{Label: "goroutines alive", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop"},
	}
	for _, work := range o.Work {
		l := plot.Line{Name: rootsText(work)}
		for _, count := range o.Goroutines {
			l.Points = append(l.Points, summaryPoint(float64(count), r.slowdown(work, count, procs))...)
			all = append(all, SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, directCalls(work), procs))
		}
		chart.Lines = append(chart.Lines, l)
	}
	for _, count := range o.Goroutines {
		row := page.Row(readable.Number(int64(count)))
		for _, work := range o.Work {
			row = append(row, r.slowdownCell(work, count, procs))
		}
		t.Rows = append(t.Rows, row)
	}
	s.Tables = []page.Table{t}
	s.Charts = drawableCharts(chart)
	if len(chart.Lines) > 1 {
		without := chart
		without.Title += ", without the smallest"
		without.Lines = chart.Lines[1:]
		s.Charts = append(s.Charts, drawableCharts(without)...)
	}
	s.Warnings = r.warnings(all)
	return s
}

func (r view) slowdownCell(work, count, procs int) page.Cell {
	s := r.slowdown(work, count, procs)
	if s.N == 0 {
		return page.Cell{Text: reasonText(r.Why(SpawnName(run.Muster, "each", work, count, procs)))}
	}
	return page.Cell{Text: strconv.FormatFloat(s.Median, 'f', 2, 64) + spreadText(s)}
}

func rootsText(work int) string {
	if work == 1 {
		return "1 root"
	}
	return readable.Number(int64(work)) + " roots"
}

// breakEvenSection reports for which work a goroutine costs at most a tenth.
func (r view) breakEvenSection(o SpawnOptions) page.Section {
	t := page.Table{
		Caption: "ns that a goroutine adds to a call, and the work for which that is a tenth",
		Columns: newColumns(fmt.Sprintf("goroutines, GOMAXPROCS %d", o.Procs[0]), "ns added", "work"),
	}
	work := o.Work[0]
	for _, count := range o.Goroutines {
		s := r.Difference(SpawnName(run.Muster, "each", work, count, o.Procs[0]),
			SpawnName(run.Muster, "direct", work, directCalls(work), o.Procs[0]), results.NsPerOp)
		if s.N == 0 {
			continue
		}
		added := math.Max(0, s.Median)
		t.Rows = append(t.Rows, page.Row(readable.Number(int64(count)), digits(added), digits(10*added/1000)+" µs"))
	}
	return page.Section{Title: "Work for which a goroutine is cheap", Tables: []page.Table{t}}
}

func (r view) memorySection(o SpawnOptions) page.Section {
	t := page.Table{
		Caption: "bytes per waiting goroutine",
		Columns: newColumns("goroutines", "stack", "obtained from the system", "resident", "ns to start"),
	}
	c := plot.Chart{Title: "Bytes per goroutine", X: plot.Axis{Label: "waiting goroutines", Log: true}, Y: plot.Axis{Label: "bytes"}}
	var all []string
	units := []struct{ name, unit string }{{"stack", stackUnit}, {"obtained from the system", sysUnit}, {"resident", rssUnit}}
	for _, u := range units {
		l := plot.Line{Name: u.name}
		for _, count := range o.Goroutines {
			l.Points = append(l.Points, r.medianPoint(float64(count), SpawnName(run.Muster, "waiting", 0, count, 1), u.unit)...)
		}
		c.Lines = append(c.Lines, l)
	}
	for _, count := range o.Goroutines {
		name := SpawnName(run.Muster, "waiting", 0, count, 1)
		row := page.Row(readable.Number(int64(count)))
		for _, u := range append(units, struct{ name, unit string }{"", results.NsPerOp}) {
			row = append(row, r.medianCell(name, u.unit, 1))
		}
		t.Rows = append(t.Rows, row)
		all = append(all, name)
	}
	return page.Section{
		Title: "Memory of a goroutine", Tables: []page.Table{t}, Charts: drawableCharts(c), Warnings: r.warnings(all),
	}
}

// peersSection compares goroutines with the threads, tasks and processes of other languages.
func (r view) peersSection(o SpawnOptions, impls []string) page.Section {
	s := page.Section{
		Title: "Threads, tasks and processes of other languages",
		Text: []string{fmt.Sprintf("Each calls a function of %s. There are at most %s system threads. "+
			"Figures of Go are at GOMAXPROCS %d.", rootsText(o.Work[0]), readable.Number(threadsMost), o.Procs[len(o.Procs)-1])},
	}
	var titles, all []string
	for _, count := range o.Goroutines {
		titles = append(titles, readable.Number(int64(count)))
		for _, impl := range impls[1:] { // the section above has the warnings about Go
			all = append(all, spawnPeerName(impl, "each", o, count), spawnPeerName(impl, "waiting", o, count))
		}
	}
	s.Warnings = r.warnings(all)
	for _, kind := range []struct{ caption, mode, unit string }{
		{"ns per call of the function with its result, all alive at the same time", "each", results.NsPerOp},
		{"ns per start, when all wait", "waiting", results.NsPerOp},
		{"bytes of resident memory each, when all wait", "waiting", rssUnit},
	} {
		t := page.Table{Caption: kind.caption, Columns: newColumns("", titles...)}
		for _, impl := range impls {
			row := page.Row(impl)
			for _, count := range o.Goroutines {
				row = append(row, r.medianCell(spawnPeerName(impl, kind.mode, o, count), kind.unit, 1))
			}
			t.Rows = append(t.Rows, row)
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}

func spawnPeerName(impl, mode string, o SpawnOptions, count int) string {
	switch {
	case impl == run.Muster && mode == "waiting":
		return SpawnName(impl, mode, 0, count, 1)
	case impl == run.Muster:
		return SpawnName(impl, mode, o.Work[0], count, o.Procs[len(o.Procs)-1])
	}
	return SpawnName(impl, mode, o.Work[0], count, 0)
}
