package lab

import (
	"fmt"
	"slices"
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
	return Report{document: d}
}

func (r view) channelSection(o ChannelOptions, buffer int) page.Section {
	title := "Without a buffer"
	if buffer > 0 {
		title = fmt.Sprintf("With a buffer of %d items", buffer)
	}
	s := page.Section{Title: title}
	titles := texts(o.Cycles, cyclesText)
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
	if few := slices.IndexFunc(o.Cycles, func(cycles int) bool { return o.items(cycles) < channelPortion }); few >= 0 {
		s.Text = []string{fmt.Sprintf("From %s cycles on fewer items pass, and the time of %s is extrapolated.", readable.Number(o.Cycles[few]), readable.Number(channelPortion))}
	}
	if o.Portions {
		s.Tables = append(s.Tables, r.portionsTables(o, buffer)...)
	}
	s.Pictures = r.channelCharts(o, buffer)
	s.Warnings = r.warnings(all)
	return s
}

// portionsTables returns the time of every portion, with a table for each number of cycles.
func (r view) portionsTables(o ChannelOptions, buffer int) (tables []page.Table) {
	for _, cycles := range o.Cycles {
		t := page.Table{Caption: "seconds of each portion, " + cyclesText(cycles), Columns: newColumns("portion", texts(o.Procs, procsText)...)}
		for n := range o.items(cycles) / channelPortion {
			row := page.Row(strconv.Itoa(n + 1))
			for _, procs := range o.Procs {
				row = append(row, r.medianCell(ChannelName(buffer, cycles, procs, 0), portionName(n+1), 1))
			}
			t.Rows = append(t.Rows, row)
		}
		if len(t.Rows) > 1 {
			tables = append(tables, t)
		}
	}
	return tables
}

func cyclesText(cycles int) string { return readable.Number(cycles) + " cycles" }
func procsText(procs int) string   { return "GOMAXPROCS " + strconv.Itoa(procs) }

// channelCharts returns the time against GOMAXPROCS with a line per number of cycles, and, against
// cycles, how much longer or shorter it is than at the least GOMAXPROCS. The first is the article's.
func (r view) channelCharts(o ChannelOptions, buffer int) []plot.Chart {
	beside := ""
	if buffer > 0 {
		beside = ", with a buffer"
	}
	against := plot.Chart{Title: "Time against GOMAXPROCS" + beside, X: plot.Axis{Label: "GOMAXPROCS", Log: true},
		Y: plot.Axis{Label: "seconds for " + readable.Number(channelPortion) + " items", Log: true}}
	for i, cycles := range o.Cycles {
		l := r.medianLine(cyclesText(cycles), o.Procs, portionUnit, func(procs int) string { return ChannelName(buffer, cycles, procs, 0) })
		l.Muted = i >= linesMax
		against.Lines = append(against.Lines, l)
	}
	pays := plot.Chart{Title: "Further processors against cycles" + beside, X: plot.Axis{Label: "cycles for each item", Log: true},
		Y: plot.Axis{Label: "time ÷ time at " + procsText(o.Procs[0]), Log: true}}
	for i, procs := range o.Procs[1:] {
		l := plot.Line{Name: procsText(procs), Muted: i >= linesMax}
		for _, cycles := range o.Cycles {
			l.Points = append(l.Points, summaryPoint(float64(cycles), r.Ratio(ChannelName(buffer, cycles, procs, 0), ChannelName(buffer, cycles, o.Procs[0], 0), results.NsPerOp))...)
		}
		pays.Lines = append(pays.Lines, l)
	}
	return append(against.Drawable(), pays.Drawable()...)
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

// processesSection reports several processes, each with several values of GOMAXPROCS: a table and a
// chart for each number of cycles.
func (r view) processesSection(o ChannelOptions) page.Section {
	s := page.Section{
		Title: "Several processes",
		Text:  []string{"A reader of the article stated that N processes on N processors do N times as much. Each process has the same work, and all start at the same time."},
	}
	var all []string
	one := procsText(o.procsEach()[0])
	for _, cycles := range o.ends() {
		base := ChannelName(0, cycles, o.procsEach()[0], 1)
		t := page.Table{
			Caption: fmt.Sprintf("items per second of all processes together, %s, as a multiple of one process at %s", cyclesText(cycles), one),
			Columns: newColumns("processes", texts(o.procsEach(), procsText)...),
		}
		c := plot.Chart{Title: "Items per second against processes, " + cyclesText(cycles), X: plot.Axis{Label: "processes", Log: true},
			Y: plot.Axis{Label: "multiple of one process at " + one, Log: true}}
		for i, procs := range o.procsEach() {
			c.Lines = append(c.Lines, plot.Line{Name: procsText(procs), Muted: i >= linesMax})
		}
		for n := 1; n <= o.Processes; n *= 2 {
			row := page.Row(strconv.Itoa(n))
			for i, procs := range o.procsEach() {
				name := ChannelName(0, cycles, procs, n)
				ratio := r.Ratio(base, name, results.NsPerOp)
				row = append(row, page.Cell{Text: ratioText(ratio)})
				c.Lines[i].Points = append(c.Lines[i].Points, summaryPoint(float64(n), ratio)...)
				all = append(all, name)
			}
			t.Rows = append(t.Rows, row)
		}
		s.Tables, s.Pictures = append(s.Tables, t), append(s.Pictures, c.Drawable()...)
	}
	s.Warnings = r.warnings(all)
	return s
}
