package lab

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/lab/stat"
)

// ChannelOptions configures [Channel]. Lists must rise.
type ChannelOptions struct {
	Options
	Procs     []int // values of GOMAXPROCS
	Cycles    []int // loop iterations on both sides for each item
	Items     int   // through the channel; a multiple of 100,000
	Processes int   // most processes at the same time; 0 = skip
	Portions  bool  // report the time of every portion, not only their median
}

// Settings of the measurements of channels and threads. At most itemCycles loop iterations for
// each of ChannelOptions.Items are made: with more cycles fewer items pass, at least itemsMin.
const (
	itemCycles   = 1000
	itemsMin     = 10
	bufferPlaces = 100
	startedEach  = 20 * time.Millisecond
)

// Channel measures a goroutine that fills a channel and another that drains it. It varies
// GOMAXPROCS, the buffer and the work beside the channel. It also measures the threads that
// GOMAXPROCS brings, and several processes at once.
func Channel(ctx context.Context, o ChannelOptions) (*Results, error) {
	if err := checkNumbers("procs", 1, 1024, o.Procs...); err != nil {
		return nil, err
	}
	if err := checkNumbers("cycles", 0, 10_000_000, o.Cycles...); err != nil {
		return nil, err
	}
	if o.Items < probe.PortionItems || o.Items%probe.PortionItems != 0 {
		return nil, inputf("items is %d, but must be a multiple of %d", o.Items, probe.PortionItems)
	}
	if o.Processes < 0 || o.Processes > processesMax {
		return nil, inputf("processes is %d, but must be from 0 to %d", o.Processes, processesMax)
	}
	conditions := []results.Pair{{Key: "items", Value: strconv.Itoa(o.Items)}}
	if o.Portions {
		conditions = append(conditions, results.Pair{Key: "portions", Value: "each"})
	}
	p, err := newPlanner(&o.Options, "channel", conditions...)
	if err != nil {
		return nil, err
	}
	for _, buffer := range []int{0, bufferPlaces} {
		for _, cycles := range o.Cycles {
			for _, procs := range o.Procs {
				p.add(channelTrial(o.items(cycles), buffer, cycles, procs, 0, o.Portions))
			}
		}
	}
	for _, cycles := range o.ends() {
		for _, procs := range o.procsEach() {
			for n := 1; n <= o.Processes; n *= 2 {
				p.add(channelTrial(o.items(cycles), 0, cycles, procs, n, false))
			}
		}
	}
	for _, procs := range o.Procs {
		p.add(startedTrial(procs))
	}
	return p.Results, p.measure(ctx)
}

// items returns how many items pass with a number of cycles: fewer if all would take too long.
func (o *ChannelOptions) items(cycles int) int {
	if cycles <= itemCycles {
		return o.Items
	}
	return max(itemsMin, o.Items*itemCycles/cycles)
}

// ends returns the smallest and the largest number of cycles, without repetition.
func (o *ChannelOptions) ends() []int {
	if len(o.Cycles) == 1 {
		return o.Cycles
	}
	return []int{o.Cycles[0], o.Cycles[len(o.Cycles)-1]}
}

// procsEach returns the values of GOMAXPROCS for each of several processes.
func (o *ChannelOptions) procsEach() []int {
	return slices.DeleteFunc(slices.Clone(o.Procs), func(n int) bool { return n > max(o.Processes, o.Procs[0]) })
}

func channelTrial(items, buffer, cycles, procs, processes int, portions bool) trial {
	return trial{
		Name: ChannelName(buffer, cycles, procs, processes), Procs: procs, Processes: processes,
		Estimate: time.Duration(items*max(1, processes)) * (150*time.Nanosecond + time.Duration(cycles)*time.Nanosecond/2),
		Question: probe.Channel{Items: items, Portion: min(probe.PortionItems, items), Cycles: cycles, Buffer: buffer, Each: portions},
	}
}

// ChannelName returns the name of a figure of [Channel]. processes is 0 for a single process
// without a gate.
func ChannelName(buffer, cycles, procs, processes int) string {
	name := fmt.Sprintf("Channel/buffer=%d/cycles=%d/procs=%d", buffer, cycles, procs)
	if processes > 0 {
		name += fmt.Sprintf("/processes=%d", processes)
	}
	return name
}

// startedTrial returns a trial of the threads that GOMAXPROCS brings.
func startedTrial(procs int) trial {
	return trial{Name: fmt.Sprintf("Started/goroutines=%d/procs=%d", 2*procs, procs), Procs: procs, Estimate: 3 * startedEach,
		Question: probe.Started{Goroutines: 2 * procs, Each: startedEach}}
}

// ChannelReport reports the results of [Channel].
func ChannelReport(of *Results, o ChannelOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of a channel",
		fmt.Sprintf("One goroutine fills a channel with %s items, and another drains it. A cycle is one loop iteration on both sides for each item. "+
			"The figure of a run is the time for %s items: the median of its portions, in seconds.",
			readable.Number(int64(o.Items)), readable.Number(probe.PortionItems)),
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
	s := &sheet{view: r, Section: page.Section{Title: title, Pictures: r.channelCharts(o, buffer)}}
	if few := slices.IndexFunc(o.Cycles, func(cycles int) bool { return o.items(cycles) < probe.PortionItems }); few >= 0 {
		s.Text = []string{fmt.Sprintf("From %s cycles on fewer items pass, and the time of %s is extrapolated.", readable.Number(o.Cycles[few]), readable.Number(probe.PortionItems))}
	}
	s.grid("seconds for "+readable.Number(probe.PortionItems)+" items", "GOMAXPROCS", texts(o.Procs, strconv.Itoa), columns(o.Cycles, func(cycles int) column {
		return column{title: cyclesText(cycles), unit: results.Portion, best: true, name: func(row int) string { return ChannelName(buffer, cycles, o.Procs[row], 0) }}
	})...)
	for _, cycles := range o.Cycles {
		if n := o.items(cycles) / probe.PortionItems; o.Portions && n > 1 {
			s.portions(o, buffer, cycles, n)
		}
	}
	return s.warned()
}

// portions adds a table with the time of every portion.
func (s *sheet) portions(o ChannelOptions, buffer, cycles, n int) {
	var rows []string
	for i := range n {
		rows = append(rows, strconv.Itoa(i+1))
	}
	s.grid("seconds of each portion, "+cyclesText(cycles), "portion", rows, columns(o.Procs, func(procs int) column {
		return column{title: procsText(procs), cell: func(row int) page.Cell {
			return s.medianCell(ChannelName(buffer, cycles, procs, 0), probe.PortionUnit(row+1), 1)
		}}
	})...)
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
		Y: plot.Axis{Label: "seconds for " + readable.Number(probe.PortionItems) + " items", Log: true}}
	for i, cycles := range o.Cycles {
		l := r.medianLine(cyclesText(cycles), o.Procs, results.Portion, func(procs int) string { return ChannelName(buffer, cycles, procs, 0) })
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
	s := &sheet{view: r, Section: page.Section{
		Title: "Threads of the process",
		Text:  []string{"Threads were counted after each portion. They were also counted in a process with twice as many busy goroutines as GOMAXPROCS, which shows how many threads GOMAXPROCS brings. The garbage collector starts a thread for every four of GOMAXPROCS, and the runtime has some of its own. 0 means that the system does not report threads."},
	}}
	threads := func(title string, name func(procs int) string) column {
		return column{title: title, unit: results.Threads, name: func(row int) string { return name(o.Procs[row]) }}
	}
	s.grid("most threads of the process (median), and the number of busy goroutines", "GOMAXPROCS", texts(o.Procs, strconv.Itoa),
		threads("channel, no cycles", func(procs int) string { return ChannelName(0, o.Cycles[0], procs, 0) }),
		threads("channel, most cycles", func(procs int) string { return ChannelName(0, o.Cycles[len(o.Cycles)-1], procs, 0) }),
		threads("busy goroutines", func(procs int) string { return startedTrial(procs).Name }),
		column{title: "their number", cell: func(row int) page.Cell { return page.Cell{Text: strconv.Itoa(2 * o.Procs[row])} }})
	return s.Section // the sections above have the warnings
}

// processesSection reports several processes, each with several values of GOMAXPROCS: a table and a
// chart for each number of cycles.
func (r view) processesSection(o ChannelOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Several processes",
		Text:  []string{"A reader of the article stated that N processes on N processors do N times as much. Each process has the same work, and all start at the same time."},
	}}
	var numbers []int
	for n := 1; n <= o.Processes; n *= 2 {
		numbers = append(numbers, n)
	}
	one := procsText(o.procsEach()[0])
	for _, cycles := range o.ends() {
		ratio := func(procs, n int) stat.Summary {
			name := ChannelName(0, cycles, procs, n)
			s.names = append(s.names, name)
			return r.Ratio(ChannelName(0, cycles, o.procsEach()[0], 1), name, results.NsPerOp)
		}
		s.grid(fmt.Sprintf("items per second of all processes together, %s, as a multiple of one process at %s", cyclesText(cycles), one), "processes",
			texts(numbers, strconv.Itoa), columns(o.procsEach(), func(procs int) column {
				return column{title: procsText(procs), cell: func(row int) page.Cell { return page.Cell{Text: ratioText(ratio(procs, numbers[row]))} }}
			})...)
		c := plot.Chart{Title: "Items per second against processes, " + cyclesText(cycles), X: plot.Axis{Label: "processes", Log: true},
			Y: plot.Axis{Label: "multiple of one process at " + one, Log: true}}
		for i, procs := range o.procsEach() {
			l := plot.Line{Name: procsText(procs), Muted: i >= linesMax}
			for _, n := range numbers {
				l.Points = append(l.Points, summaryPoint(float64(n), ratio(procs, n))...)
			}
			c.Lines = append(c.Lines, l)
		}
		s.Pictures = append(s.Pictures, c.Drawable()...)
	}
	return s.warned()
}
