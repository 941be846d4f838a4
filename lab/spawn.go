package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/lab/stat"
)

// SpawnOptions configures [Spawn]. Lists must rise.
type SpawnOptions struct {
	Options
	Work       []int // square roots per call
	Goroutines []int // calls, and goroutines alive at the same time
	Procs      []int // values of GOMAXPROCS

	// EachMax is the longest estimated duration of one measurement. MemoryMax is the most memory
	// that goroutines, threads or processes may need, in bytes. Measurements that exceed one of
	// them are left out, and reported as such. 0 = no limit.
	EachMax   time.Duration
	MemoryMax int64
}

// threadsMost bounds the system threads of contestants.
const threadsMost = 20_000

// rootCost is the approximate duration of one square root, for estimates.
const rootCost = 6 * time.Nanosecond

// Spawn measures functions that compute square roots and send their result over a channel:
// called in a loop, and each call in a goroutine of its own, garbage collection included. It
// also measures a loop that sends nothing, and the memory of waiting goroutines. Contestants are
// threads, tasks and processes of other languages.
func Spawn(ctx context.Context, o SpawnOptions) (*Results, error) {
	if err := cmp.Or(
		checkNumbers("work", 1, 1_000_000, o.Work...),
		checkNumbers("goroutines", 1, 10_000_000, o.Goroutines...),
		checkNumbers("procs", 1, 1024, o.Procs...),
	); err != nil {
		return nil, err
	}
	p, err := newPlanner(&o.Options, "spawn")
	if err != nil {
		return nil, err
	}
	peers, err := p.selected(ctx, native.Spawn)
	if err != nil {
		return nil, err
	}
	for _, procs := range o.Procs {
		for _, work := range o.Work {
			p.addSpawn(o, spawnTrial(probe.Bare, work, directCalls(work), procs))
			for _, count := range o.Goroutines {
				p.addSpawn(o, spawnTrial(probe.Sending, work, count, procs))
				p.addAlive(o, muster, count, spawnTrial(probe.Each, work, count, procs))
			}
		}
	}
	for _, count := range o.Goroutines {
		p.addAlive(o, muster, count, waitingTrial(count))
	}
	for _, peer := range peers {
		p.addPeerSpawn(o, peer)
	}
	return p.Results, p.measure(ctx)
}

// addAlive adds a trial of count goroutines, threads or processes that are alive at once.
func (p *planner) addAlive(o SpawnOptions, impl string, count int, t trial) {
	if need := int64(count) * peerMemory(impl); o.MemoryMax > 0 && need > o.MemoryMax {
		p.Results.Absent = append(p.Results.Absent, results.Absent{Name: t.Name, Why: fmt.Sprintf("%sneeds about %s of memory, and %s are free",
			results.TooLarge, readable.Size(need), readable.Size(o.MemoryMax))})
		return
	}
	p.addSpawn(o, t)
}

func (p *planner) addSpawn(o SpawnOptions, t trial) {
	t.EachMax = o.EachMax
	p.add(t)
}

// peerMemory is the approximate memory of one goroutine, thread or process, in bytes, for estimates.
func peerMemory(impl string) int64 {
	if strings.HasSuffix(impl, "-thread") {
		return 64 << 10
	}
	return 3 << 10
}

// directCalls returns how often a loop that sends nothing calls a function. The final garbage collection takes as
// long after one call as after a million, so there are many calls.
func directCalls(work int) int { return max(1_000, 10_000_000/work) }

// spawnTrial returns a trial of calls in goroutines, or in a loop.
func spawnTrial(mode probe.SpawnMode, work, count, procs int) trial {
	added := map[probe.SpawnMode]time.Duration{probe.Bare: 3, probe.Sending: 150, probe.Grouped: 300, probe.Each: 500}[mode]
	return trial{Name: SpawnName(muster, string(mode), work, count, procs), Procs: procs,
		Estimate: time.Duration(count) * (added + time.Duration(work)*rootCost), Question: probe.Spawn{Roots: work, Calls: count, Mode: mode}}
}

// waitingTrial returns a trial of goroutines that wait.
func waitingTrial(count int) trial {
	return trial{Name: SpawnName(muster, "waiting", 0, count, 1), Procs: 1, Estimate: time.Duration(count) * time.Microsecond,
		Question: probe.Waiting{Goroutines: count}}
}

// peerCost is the approximate cost of one thread, task or process, for estimates.
func peerCost(impl string) time.Duration {
	switch impl {
	case "java-thread":
		return 200 * time.Microsecond
	case "cpp-thread", "rust-thread":
		return 10 * time.Microsecond
	case "rayon":
		return 300 * time.Nanosecond
	}
	return 3 * time.Microsecond
}

// addPeerSpawn adds the trials of another language: calls with the least work, where the
// difference is largest, and waiting threads, tasks or processes.
func (p *planner) addPeerSpawn(o SpawnOptions, peer contestant) {
	for _, count := range o.Goroutines {
		if strings.HasSuffix(peer.Impl, "-thread") && count > threadsMost {
			continue
		}
		for _, mode := range []string{"each", "waiting"} {
			p.addAlive(o, peer.Impl, count, peer.trial(SpawnName(peer.Impl, mode, o.Work[0], count, 0), time.Duration(count)*peerCost(peer.Impl),
				"-mode", mode, "-work", strconv.Itoa(o.Work[0]), "-count", strconv.Itoa(count)))
		}
	}
}

// SpawnName returns the name of a figure of [Spawn]. procs is 0 for a peer that is not in Go.
func SpawnName(impl, mode string, work, count, procs int) string {
	name := "Spawn/impl=" + impl + "/mode=" + mode
	if work > 0 {
		name += fmt.Sprintf("/work=%d", work)
	}
	name += fmt.Sprintf("/count=%d", count)
	if procs > 0 {
		name += fmt.Sprintf("/procs=%d", procs)
	}
	return name
}

// SpawnReport reports the results of [Spawn].
func SpawnReport(of *Results, o SpawnOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of a goroutine",
		"A function computes square roots and sends the result over a channel. It is called in a loop, and each call in a goroutine of its own. All goroutines start before the first result is taken. Times include garbage collection. At GOMAXPROCS 1 a ratio is one of processor time.",
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

// loopName returns the name of calls in a loop that sends.
func loopName(work, count, procs int) string {
	return SpawnName(muster, string(probe.Sending), work, count, procs)
}

// goName returns the name of calls in goroutines.
func goName(work, count, procs int) string {
	return SpawnName(muster, string(probe.Each), work, count, procs)
}

// bareName returns the name of calls in a loop that sends nothing.
func bareName(work, procs int) string {
	return SpawnName(muster, string(probe.Bare), work, directCalls(work), procs)
}

// timeRatio returns the time of a ÷ the time of b, round by round.
func (r view) timeRatio(a, b string) stat.Summary { return r.Ratio(a, b, r.TimeUnit(a, b)) }

// spawnSection reports the µs of a call and the time in goroutines ÷ the time in a loop.
func (r view) spawnSection(o SpawnOptions, procs int) page.Section {
	title := fmt.Sprintf("Goroutine ÷ loop, GOMAXPROCS %d", procs)
	s := &sheet{view: r, Section: page.Section{Title: title}}
	counts := append([]int{0}, o.Goroutines...) // 0 is a loop that sends nothing
	var calls []string
	var names []func(work int) string
	for _, count := range counts {
		if count == 0 {
			calls, names = append(calls, "in a loop without sends"), append(names, func(work int) string { return bareName(work, procs) })
			continue
		}
		calls = append(calls, "in a loop, "+readable.Count(count, "call"), "in "+readable.Count(count, "goroutine"))
		names = append(names, func(work int) string { return loopName(work, count, procs) }, func(work int) string { return goName(work, count, procs) })
	}
	s.grid("µs per call", "", calls, columns(o.Work, func(work int) column {
		return column{title: rootsText(work), unit: results.NsPerOp, divisor: 1000, name: func(row int) string { return names[row](work) }}
	})...)
	alive := append(texts(o.Goroutines, readable.Number), "a loop without sends")
	s.grid("time in goroutines ÷ time in a loop, both with a send for each call", "goroutines", alive, columns(o.Work, func(work int) column {
		return column{title: rootsText(work), cell: func(row int) page.Cell {
			if row < len(o.Goroutines) {
				return r.ratioCell(goName(work, o.Goroutines[row], procs), loopName(work, o.Goroutines[row], procs))
			}
			return r.ratioCell(bareName(work, procs), texts(o.Goroutines, func(count int) string { return loopName(work, count, procs) })...)
		}}
	})...)
	chart := plot.Chart{Title: title, X: plot.Axis{Label: "goroutines alive", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true}}
	for i, work := range o.Work {
		l := plot.Line{Name: rootsText(work), Muted: i >= linesMax}
		for _, count := range o.Goroutines {
			l.Points = append(l.Points, summaryPoint(float64(count), r.timeRatio(goName(work, count, procs), loopName(work, count, procs)))...)
		}
		chart.Lines = append(chart.Lines, l)
	}
	s.Pictures = chart.Drawable()
	return s.warned()
}

// ratioCell returns the time of a benchmark ÷ the time of the last measured loop, or the reason
// for its absence. The last loop has the most calls, so garbage collection distorts it least.
func (r view) ratioCell(name string, loops ...string) page.Cell {
	cell := page.Cell{Text: reasonText(r.Why(name))}
	for _, loop := range loops {
		if s := r.timeRatio(name, loop); s.N > 0 {
			cell.Text = ratioText(s)
		}
	}
	return cell
}

func rootsText(work int) string {
	if work == 1 {
		return "1 root"
	}
	return readable.Number(int64(work)) + " roots"
}

// breakEvenSection reports for which work a goroutine costs at most a tenth.
func (r view) breakEvenSection(o SpawnOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{Title: "Work for which a goroutine is cheap"}}
	added := func(row int) stat.Summary {
		each, loop := goName(o.Work[0], o.Goroutines[row], o.Procs[0]), loopName(o.Work[0], o.Goroutines[row], o.Procs[0])
		return r.Difference(each, loop, r.TimeUnit(each, loop))
	}
	text := func(text func(ns float64, s stat.Summary) string) func(row int) page.Cell {
		return func(row int) page.Cell {
			s := added(row)
			if s.N == 0 {
				return page.Cell{Text: "–"}
			}
			return page.Cell{Text: text(math.Max(0, s.Median), s)}
		}
	}
	s.grid("ns that a goroutine adds to a call, and the work for which that is a tenth", fmt.Sprintf("goroutines, GOMAXPROCS %d", o.Procs[0]), texts(o.Goroutines, readable.Number),
		column{title: "ns added", cell: text(func(ns float64, s stat.Summary) string { return digits(ns) + spreadText(s) })},
		column{title: "work", cell: text(func(ns float64, _ stat.Summary) string { return digits(10*ns/1000) + " µs" })})
	return s.Section
}

func (r view) memorySection(o SpawnOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{Title: "Memory of a goroutine"}}
	name := func(count int) string { return SpawnName(muster, "waiting", 0, count, 1) }
	c := plot.Chart{Title: "Bytes per goroutine", X: plot.Axis{Label: "waiting goroutines", Log: true}, Y: plot.Axis{Label: "bytes"}}
	units := []column{{title: "stack", unit: results.StackPerOp}, {title: "obtained from the system", unit: results.SysPerOp},
		{title: "resident", unit: results.RSSPerOp}, {title: "ns to start", unit: results.NsPerOp}}
	for i := range units {
		units[i].name = func(row int) string { return name(o.Goroutines[row]) }
		if units[i].unit != results.NsPerOp {
			c.Lines = append(c.Lines, r.medianLine(units[i].title, o.Goroutines, units[i].unit, name))
		}
	}
	s.grid("bytes per waiting goroutine", "goroutines", texts(o.Goroutines, readable.Number), units...)
	s.Pictures = c.Drawable()
	return s.warned()
}

// peersSection compares goroutines with the threads, tasks and processes of other languages.
func (r view) peersSection(o SpawnOptions, impls []string) page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Threads, tasks and processes of other languages",
		Text: []string{fmt.Sprintf("Each calls a function of %s. There are at most %s system threads. "+
			"Figures of Go are at GOMAXPROCS %d.", rootsText(o.Work[0]), readable.Number(threadsMost), o.Procs[len(o.Procs)-1])},
	}}
	for _, kind := range []struct{ caption, mode, unit string }{
		{"ns per call of the function with its result, all alive at the same time", "each", results.NsPerOp},
		{"ns per start, when all wait", "waiting", results.NsPerOp},
		{"bytes of resident memory each, when all wait", "waiting", results.RSSPerOp},
	} {
		s.grid(kind.caption, "", impls, columns(o.Goroutines, func(count int) column {
			return column{title: readable.Number(count), unit: kind.unit, name: func(row int) string { return spawnPeerName(impls[row], kind.mode, o, count) }}
		})...)
	}
	// The sections above have the warnings about Go.
	s.names = slices.DeleteFunc(s.names, func(name string) bool { return results.KeyOf(name, "impl") == muster })
	return s.warned()
}

func spawnPeerName(impl, mode string, o SpawnOptions, count int) string {
	switch {
	case impl == muster && mode == "waiting":
		return SpawnName(impl, mode, 0, count, 1)
	case impl == muster:
		return SpawnName(impl, mode, o.Work[0], count, o.Procs[len(o.Procs)-1])
	}
	return SpawnName(impl, mode, o.Work[0], count, 0)
}
