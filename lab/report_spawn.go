package lab

import (
	"fmt"
	"math"
	"strconv"

	"muster/internal/plot"
	"muster/lab/internal/run"
	"muster/lab/page"
	"muster/lab/results"
	"muster/lab/stat"
)

// SpawnReport shows the results of [Spawn].
func SpawnReport(of *Results, o SpawnOptions) Report {
	r := view{of}
	d := newDocument(of, "What a goroutine costs",
		"Functions of some square roots, called in a loop, and each call in a goroutine of its own that reports over a channel; all are started before the first result is taken, and garbage collection is in the time.",
		howMeasured(o.Count))
	for _, procs := range o.Procs {
		d.Sections = append(d.Sections, r.spawnSection(o, procs))
	}
	d.Sections = append(d.Sections, r.breakEven(o), r.memorySection(o))
	if peers := r.impls(); len(peers) > 1 {
		d.Sections = append(d.Sections, r.peersSection(o, peers))
	}
	return Report{document: d}
}

// slowdown is how many times the loop's time goroutines took, round by round.
func (r view) slowdown(work, count, procs int) stat.Summary {
	return r.Ratio(SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, directCalls(work), procs), results.NsPerOp)
}

func (r view) spawnSection(o SpawnOptions, procs int) page.Section {
	s := page.Section{Title: fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs)}
	var titles, all []string
	for _, work := range o.Work {
		titles = append(titles, rootsText(work))
	}
	t := page.Table{Caption: "time in goroutines ÷ time in a loop", Columns: columns("goroutines", titles...)}
	chart := plot.Chart{
		Title: fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs),
		X:     plot.Axis{Label: "goroutines alive", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop"},
	}
	for _, work := range o.Work {
		l := plot.Line{Name: rootsText(work)}
		for _, count := range o.Goroutines {
			l.Points = append(l.Points, pointOf(float64(count), r.slowdown(work, count, procs))...)
			all = append(all, SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, directCalls(work), procs))
		}
		chart.Lines = append(chart.Lines, l)
	}
	for _, count := range o.Goroutines {
		row := page.Row(grouped(int64(count)))
		for _, work := range o.Work {
			row = append(row, r.slowdownCell(work, count, procs))
		}
		t.Rows = append(t.Rows, row)
	}
	s.Tables = []page.Table{t}
	s.Charts = drawable(chart)
	if len(chart.Lines) > 1 {
		without := chart
		without.Title += ", without the smallest"
		without.Lines = chart.Lines[1:]
		s.Charts = append(s.Charts, drawable(without)...)
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
	return grouped(int64(work)) + " roots"
}

// breakEven tells how long a call must take for its goroutine to cost a tenth of that.
func (r view) breakEven(o SpawnOptions) page.Section {
	t := page.Table{
		Caption: "ns that a goroutine adds to a call, and from which work on that is a tenth or less",
		Columns: columns(fmt.Sprintf("goroutines, GOMAXPROCS %d", o.Procs[0]), "ns added", "a tenth of"),
	}
	work := o.Work[0]
	for _, count := range o.Goroutines {
		s := r.Difference(SpawnName(run.Muster, "each", work, count, o.Procs[0]),
			SpawnName(run.Muster, "direct", work, directCalls(work), o.Procs[0]), results.NsPerOp)
		if s.N == 0 {
			continue
		}
		added := math.Max(0, s.Median)
		t.Rows = append(t.Rows, page.Row(grouped(int64(count)), digits(added), digits(10*added/1000)+" µs"))
	}
	return page.Section{Title: "From which work on a goroutine is cheap", Tables: []page.Table{t}}
}

func (r view) memorySection(o SpawnOptions) page.Section {
	t := page.Table{
		Caption: "bytes for each goroutine that waits",
		Columns: columns("goroutines", "stack", "had from the system", "resident", "ns to start"),
	}
	c := plot.Chart{Title: "Bytes for each goroutine", X: plot.Axis{Label: "goroutines that wait", Log: true}, Y: plot.Axis{Label: "bytes"}}
	var all []string
	units := []struct{ name, unit string }{{"stack", stack}, {"had from the system", sys}, {"resident", rss}}
	for _, u := range units {
		l := plot.Line{Name: u.name}
		for _, count := range o.Goroutines {
			l.Points = append(l.Points, r.points(float64(count), SpawnName(run.Muster, "waiting", 0, count, 1), u.unit)...)
		}
		c.Lines = append(c.Lines, l)
	}
	for _, count := range o.Goroutines {
		name := SpawnName(run.Muster, "waiting", 0, count, 1)
		row := page.Row(grouped(int64(count)))
		for _, u := range append(units, struct{ name, unit string }{"", results.NsPerOp}) {
			row = append(row, r.cell(name, u.unit, 1))
		}
		t.Rows = append(t.Rows, row)
		all = append(all, name)
	}
	return page.Section{
		Title: "What a goroutine takes of memory", Tables: []page.Table{t}, Charts: drawable(c), Warnings: r.warnings(all),
	}
}

// peersSection compares what other languages have.
func (r view) peersSection(o SpawnOptions, impls []string) page.Section {
	s := page.Section{
		Title: "Beside threads, tasks and processes of other languages",
		Text: []string{fmt.Sprintf("Each calls a function of %s; threads of the system up to %s. "+
			"What stands in Go is with GOMAXPROCS %d.", rootsText(o.Work[0]), grouped(threadsMost), o.Procs[len(o.Procs)-1])},
	}
	var titles, all []string
	for _, count := range o.Goroutines {
		titles = append(titles, grouped(int64(count)))
		for _, impl := range impls[1:] { // what muster's are stands above
			all = append(all, spawnPeerName(impl, "each", o, count), spawnPeerName(impl, "waiting", o, count))
		}
	}
	s.Warnings = r.warnings(all)
	for _, kind := range []struct{ caption, mode, unit string }{
		{"ns for each that calls the function and reports, all alive at the same time", "each", results.NsPerOp},
		{"ns to start each that waits", "waiting", results.NsPerOp},
		{"bytes resident for each that waits", "waiting", rss},
	} {
		t := page.Table{Caption: kind.caption, Columns: columns("", titles...)}
		for _, impl := range impls {
			row := page.Row(impl)
			for _, count := range o.Goroutines {
				row = append(row, r.cell(spawnPeerName(impl, kind.mode, o, count), kind.unit, 1))
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
