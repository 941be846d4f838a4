package lab

import (
	"fmt"
	"strconv"

	"muster/internal/plot"
	"muster/lab/page"
	"muster/lab/results"
)

// ChannelReport shows the results of [Channel].
func ChannelReport(of *Results, o ChannelOptions) Report {
	r := view{of}
	d := newDocument(of, "What a channel costs",
		fmt.Sprintf("One goroutine fills a channel with %s items, another drains it, and both do so many turns of a loop for each (cycles). "+
			"A run's figure is the seconds for %s items, those of its median portion.",
			grouped(int64(o.Items)), grouped(channelPortion)),
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
		title = fmt.Sprintf("With %d places", buffer)
	}
	s := page.Section{Title: title}
	var titles, all []string
	for _, cycles := range o.Cycles {
		titles = append(titles, grouped(int64(cycles))+" cycles")
	}
	t := page.Table{Caption: "seconds for " + grouped(channelPortion) + " items", Columns: columns("GOMAXPROCS", titles...)}
	for _, procs := range o.Procs {
		row := page.Row(strconv.Itoa(procs))
		for _, cycles := range o.Cycles {
			name := ChannelName(buffer, cycles, procs, 0)
			row = append(row, r.cell(name, portion, 1))
			all = append(all, name)
		}
		t.Rows = append(t.Rows, row)
	}
	for i, cycles := range o.Cycles {
		var names []string
		for _, procs := range o.Procs {
			names = append(names, ChannelName(buffer, cycles, procs, 0))
		}
		r.markBest(t.Rows, i+1, portion, names)
	}
	s.Tables = []page.Table{t}
	s.Charts = r.channelCharts(o, buffer)
	s.Warnings = r.warnings(all)
	return s
}

// channelCharts are the article's two: against GOMAXPROCS, a line for each number of
// cycles, and against cycles, a line for each GOMAXPROCS of a few.
func (r view) channelCharts(o ChannelOptions, buffer int) []plot.Chart {
	seconds := plot.Axis{Label: "seconds for " + grouped(channelPortion) + " items", Log: true}
	against := plot.Chart{Title: "Time against GOMAXPROCS", X: plot.Axis{Label: "GOMAXPROCS", Log: true}, Y: seconds}
	for _, cycles := range o.Cycles {
		l := plot.Line{Name: strconv.Itoa(cycles) + " cycles"}
		for _, procs := range o.Procs {
			l.Points = append(l.Points, r.points(float64(procs), ChannelName(buffer, cycles, procs, 0), portion)...)
		}
		against.Lines = append(against.Lines, l)
	}
	cycles := plot.Chart{Title: "Time against cycles", X: plot.Axis{Label: "cycles for each item"}, Y: plot.Axis{Label: seconds.Label}}
	for _, procs := range o.Procs[:min(len(o.Procs), 4)] {
		l := plot.Line{Name: "GOMAXPROCS " + strconv.Itoa(procs)}
		for _, n := range o.Cycles {
			l.Points = append(l.Points, r.points(float64(n), ChannelName(buffer, n, procs, 0), portion)...)
		}
		cycles.Lines = append(cycles.Lines, l)
	}
	return append(drawable(against), drawable(cycles)...)
}

func (r view) threadsSection(o ChannelOptions) page.Section {
	t := page.Table{
		Caption: "most threads of the process: median, and how many goroutines were busy",
		Columns: columns("GOMAXPROCS", "channel, no cycles", "channel, most cycles", "all busy", "goroutines then"),
	}
	first, last := o.Cycles[0], o.Cycles[len(o.Cycles)-1]
	for _, procs := range o.Procs {
		row := page.Row(strconv.Itoa(procs))
		row = append(row,
			r.cell(ChannelName(0, first, procs, 0), threads, 1), r.cell(ChannelName(0, last, procs, 0), threads, 1),
			r.cell(startedName(procs), threads, 1), page.Cell{Text: strconv.Itoa(2 * procs)})
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title:  "How many threads there are",
		Text:   []string{"Counted after each portion, and in a process of which twice as many goroutines as GOMAXPROCS are kept busy: how many threads GOMAXPROCS really brings. A garbage collection starts one for every four of GOMAXPROCS, and some are the runtime's own. 0 is where the system does not tell."},
		Tables: []page.Table{t},
	}
}

func (r view) processesSection(o ChannelOptions) page.Section {
	first, last := o.Cycles[0], o.Cycles[len(o.Cycles)-1]
	c := plot.Chart{
		Title: "Items each second against processes",
		X:     plot.Axis{Label: "processes with GOMAXPROCS 1"}, Y: plot.Axis{Label: "times as many as one process"},
	}
	t := page.Table{Caption: "items each second, all processes together, as a multiple of one process", Columns: columns("processes")}
	var all []string
	kinds := []int{first}
	if last != first {
		kinds = append(kinds, last)
	}
	for _, cycles := range kinds {
		t.Columns = append(t.Columns, page.Column{Title: grouped(int64(cycles)) + " cycles", Right: true})
		c.Lines = append(c.Lines, plot.Line{Name: strconv.Itoa(cycles) + " cycles"})
	}
	for n := 1; n <= o.Processes; n *= 2 {
		row := page.Row(strconv.Itoa(n))
		for i, cycles := range kinds {
			name := ChannelName(0, cycles, 1, n)
			ratio := r.Ratio(ChannelName(0, cycles, 1, 1), name, results.NsPerOp)
			row = append(row, page.Cell{Text: ratioText(ratio)})
			c.Lines[i].Points = append(c.Lines[i].Points, pointOf(float64(n), ratio)...)
			all = append(all, name)
		}
		t.Rows = append(t.Rows, row)
	}
	return page.Section{
		Title:  "Several processes instead",
		Text:   []string{"A reader of the article held that N processes on N processors do N times as much. Each has GOMAXPROCS 1 and the same work; they begin together."},
		Tables: []page.Table{t}, Charts: drawable(c), Warnings: r.warnings(all),
	}
}
