package lab

import (
	"fmt"
	"strconv"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/results"
)

// ChannelReport reports the results of [Channel].
func ChannelReport(of *Results, o ChannelOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of a channel",
		fmt.Sprintf("One goroutine fills a channel with %s items, and another drains it. A cycle is one loop iteration on both sides for each item. "+
			"The figure of a run is the time for %s items: the median of its portions, in seconds.",
			readable.Number(int64(o.Items)), readable.Number(channelPortion)),
		howMeasured(o.Count))
	for _, buffer := range []int{0, bufferPlaces} {
		d.Sections = append(d.Sections, r.channelSection(o, buffer))
	}
	d.Sections = append(d.Sections, r.threadsSection(o))
	if o.Processes > 0 {
		d.Sections = append(d.Sections, r.processesSection(o))
	}
	if len(o.Writers) > 0 {
		d.Sections = append(d.Sections, r.writersSection(o))
	}
	return Report{document: d}
}

func (r view) channelSection(o ChannelOptions, buffer int) page.Section {
	title := "Without a buffer"
	if buffer > 0 {
		title = fmt.Sprintf("With a buffer of %d items", buffer)
	}
	s := page.Section{Title: title}
	titles := texts(o.Cycles, func(cycles int) string { return readable.Number(cycles) + " cycles" })
	var all []string
	t := page.Table{Caption: "seconds for " + readable.Number(channelPortion) + " items", Columns: newColumns("GOMAXPROCS", titles...)}
	for _, procs := range o.Procs {
		row := page.Row(strconv.Itoa(procs))
		for _, cycles := range o.Cycles {
			name := ChannelName(buffer, cycles, procs, 0)
			row = append(row, r.medianCell(name, portionUnit, 1))
			all = append(all, name)
		}
		t.Rows = append(t.Rows, row)
	}
	for i, cycles := range o.Cycles {
		names := texts(o.Procs, func(procs int) string { return ChannelName(buffer, cycles, procs, 0) })
		r.markBest(t.Rows, i+1, portionUnit, names)
	}
	s.Tables = []page.Table{t}
	s.Pictures = r.channelCharts(o, buffer)
	s.Warnings = r.warnings(all)
	return s
}

// channelCharts returns the article's two charts: time against GOMAXPROCS with a line per
// number of cycles, and time against cycles with a line for some values of GOMAXPROCS.
func (r view) channelCharts(o ChannelOptions, buffer int) []plot.Chart {
	seconds := plot.Axis{Label: "seconds for " + readable.Number(channelPortion) + " items", Log: true}
	against := plot.Chart{Title: "Time against GOMAXPROCS", X: plot.Axis{Label: "GOMAXPROCS", Log: true}, Y: seconds}
	for _, cycles := range o.Cycles {
		against.Lines = append(against.Lines, r.medianLine(strconv.Itoa(cycles)+" cycles", o.Procs, portionUnit, func(procs int) string {
			return ChannelName(buffer, cycles, procs, 0)
		}))
	}
	cycles := plot.Chart{Title: "Time against cycles", X: plot.Axis{Label: "cycles for each item"}, Y: plot.Axis{Label: seconds.Label}}
	for _, procs := range o.Procs[:min(len(o.Procs), 4)] {
		cycles.Lines = append(cycles.Lines, r.medianLine("GOMAXPROCS "+strconv.Itoa(procs), o.Cycles, portionUnit, func(n int) string {
			return ChannelName(buffer, n, procs, 0)
		}))
	}
	return append(against.Drawable(), cycles.Drawable()...)
}

func (r view) threadsSection(o ChannelOptions) page.Section {
	t := page.Table{
		Caption: "most threads of the process (median), and the number of busy goroutines",
		Columns: newColumns("GOMAXPROCS", "channel, no cycles", "channel, most cycles", "busy goroutines", "their number"),
	}
	first, last := o.Cycles[0], o.Cycles[len(o.Cycles)-1]
	for _, procs := range o.Procs {
		row := page.Row(strconv.Itoa(procs))
		row = append(row,
			r.medianCell(ChannelName(0, first, procs, 0), threadsUnit, 1), r.medianCell(ChannelName(0, last, procs, 0), threadsUnit, 1),
			r.medianCell(startedName(procs), threadsUnit, 1), page.Cell{Text: strconv.Itoa(2 * procs)})
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title:  "Threads of the process",
		Text:   []string{"Threads were counted after each portion. They were also counted in a process with twice as many busy goroutines as GOMAXPROCS, which shows how many threads GOMAXPROCS brings. The garbage collector starts a thread for every four of GOMAXPROCS, and the runtime has some of its own. 0 means that the system does not report threads."},
		Tables: []page.Table{t},
	}
}

func (r view) processesSection(o ChannelOptions) page.Section {
	first, last := o.Cycles[0], o.Cycles[len(o.Cycles)-1]
	c := plot.Chart{
		Title: "Items per second against processes",
		X:     plot.Axis{Label: "processes with GOMAXPROCS 1"}, Y: plot.Axis{Label: "multiple of one process"},
	}
	t := page.Table{Caption: "items per second of all processes together, as a multiple of one process", Columns: newColumns("processes")}
	var all []string
	kinds := []int{first}
	if last != first {
		kinds = append(kinds, last)
	}
	for _, cycles := range kinds {
		t.Columns = append(t.Columns, page.Column{Title: readable.Number(int64(cycles)) + " cycles", Right: true})
		c.Lines = append(c.Lines, plot.Line{Name: strconv.Itoa(cycles) + " cycles"})
	}
	for n := 1; n <= o.Processes; n *= 2 {
		row := page.Row(strconv.Itoa(n))
		for i, cycles := range kinds {
			name := ChannelName(0, cycles, 1, n)
			ratio := r.Ratio(ChannelName(0, cycles, 1, 1), name, results.NsPerOp)
			row = append(row, page.Cell{Text: ratioText(ratio)})
			c.Lines[i].Points = append(c.Lines[i].Points, summaryPoint(float64(n), ratio)...)
			all = append(all, name)
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title:  "Several processes",
		Text:   []string{"A reader of the article stated that N processes on N processors do N times as much. Each process has GOMAXPROCS 1 and the same work. All start at the same time."},
		Tables: []page.Table{t}, Pictures: c.Drawable(), Warnings: r.warnings(all),
	}
}
