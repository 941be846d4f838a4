package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// DispatchOptions configures [Dispatch]. Lists must rise.
type DispatchOptions struct {
	Options
	Jobs  int   // workers of each pool
	Tasks []int // numbers of trivial tasks, each a column of the table
	Procs []int // values of GOMAXPROCS for contestants in Go

	// RowMax is the longest estimated duration of all runs of one contestant with one number of
	// tasks. Longer rows are left out, and reported as such. 0 = no limit.
	RowMax time.Duration
}

// modeTasksMax bounds the tasks of modes other than "single". More tasks do not change their
// figures.
const modeTasksMax = 1_000_000

// ModeTasks returns the number of tasks of a mode. most is the largest number in the options.
func ModeTasks(mode string, most int) int {
	if mode == probe.DispatchModes()[0] {
		return most
	}
	return min(most, modeTasksMax)
}

// patience is the time limit for tasks that wait for one another. They take a tenth of a
// second if they end at all.
const patience = 5 * time.Second

// Dispatch measures the cost of a trivial task on muster's pool, on the articles' pools in Go
// and C++, and on widely used pools.
func Dispatch(ctx context.Context, o DispatchOptions) (*Results, error) {
	if err := cmp.Or(
		checkNumbers("jobs", 1, 1024, o.Jobs),
		checkNumbers("tasks", 1, 1_000_000_000, o.Tasks...),
		checkNumbers("procs", 1, 1024, o.Procs...),
	); err != nil {
		return nil, err
	}
	p, err := newPlanner(&o.Options, "dispatch")
	if err != nil {
		return nil, err
	}
	peers, err := p.selected(ctx, native.Dispatch)
	if err != nil {
		return nil, err
	}
	for _, peer := range append([]contestant{{Impl: muster, Language: golang, Own: true}}, peers...) {
		for i, tasks := range o.Tasks {
			fewer := 0
			if i > 0 {
				fewer = o.Tasks[i-1]
			}
			p.addRow(peer, "single", o.Jobs, tasks, o.Procs, fewer, o.RowMax/time.Duration(o.Count))
		}
		most := o.Procs[len(o.Procs)-1:]
		for _, mode := range probe.DispatchModes()[1:] {
			p.addDispatch(peer, mode, o.Jobs, ModeTasks(mode, o.Tasks[len(o.Tasks)-1]), most)
		}
	}
	return p.Results, p.measure(ctx)
}

// addDispatch adds the trials of one peer in one mode, without a limit.
func (p *planner) addDispatch(peer contestant, mode string, jobs, tasks int, procs []int) {
	p.addRow(peer, mode, jobs, tasks, procs, 0, 0)
}

// addRow adds a contestant's trials in one mode, in Go one for each GOMAXPROCS. The row with fewer tasks
// predicts whether this one exceeds most.
func (p *planner) addRow(peer contestant, mode string, jobs, tasks int, procs []int, fewer int, most time.Duration) {
	if peer.Language != golang {
		procs = []int{0}
	}
	for _, n := range procs {
		name, estimate := DispatchName(peer.Impl, mode, jobs, tasks, n), 50*time.Millisecond+time.Duration(tasks)*300*time.Nanosecond
		if peer.Own && !probe.HasDispatchMode(peer.Impl, mode) {
			p.Results.Absent = append(p.Results.Absent, results.Absent{Name: name, Why: results.NoSuchMode})
			continue
		}
		t := trial{Name: name, Estimate: estimate, Question: probe.Dispatch{Impl: peer.Impl, Mode: mode, Workers: jobs, Tasks: tasks}}
		if !peer.Own {
			t = peer.trial(name, estimate, "-mode", mode, "-workers", strconv.Itoa(jobs), "-tasks", strconv.Itoa(tasks),
				"-patience", strconv.FormatInt(patience.Milliseconds(), 10))
		}
		t.Procs = n
		t.Ops, t.Smaller, t.EachMax = tasks, DispatchName(peer.Impl, mode, jobs, fewer, n), most
		p.add(t)
	}
}

// DispatchName returns the name of a figure of [Dispatch]. procs is 0 for a peer that is not
// in Go.
func DispatchName(impl, mode string, jobs, tasks, procs int) string {
	name := fmt.Sprintf("Dispatch/impl=%s/mode=%s/jobs=%d/tasks=%d", impl, mode, jobs, tasks)
	if procs > 0 {
		name += fmt.Sprintf("/procs=%d", procs)
	}
	return name
}

// checkNumbers rejects an empty list, and numbers that are out of bounds or do not rise.
func checkNumbers(what string, least, most int, numbers ...int) error {
	if len(numbers) == 0 {
		return inputf("no %s given", what)
	}
	for i, n := range numbers {
		if n < least || n > most {
			return inputf("%s is %d, but must be from %d to %d", what, n, least, most)
		}
		if i > 0 && n <= numbers[i-1] {
			return inputf("%s must rise: %d comes after %d", what, n, numbers[i-1])
		}
	}
	return nil
}

// modeTitles are the table headers of the modes.
var modeTitles = map[string]string{
	"batch":     "in batches of 64",
	"producers": "by 8 producers",
	"foreach":   "a parallel loop",
	"makespan":  "64 long tasks",
	"barrier":   "waiting tasks",
}

// DispatchReport reports the results of [Dispatch].
func DispatchReport(of *Results, o DispatchOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of dispatching a task",
		fmt.Sprintf("Trivial tasks for %d workers, in ns of elapsed time per task, from the first submission to the end of the last task.", o.Jobs),
		howMeasured(o.Count))
	if slices.ContainsFunc(of.Absent, func(a results.Absent) bool { return a.Why == results.TooLong }) {
		d.Lead = append(d.Lead, fmt.Sprintf("Where all runs of a contestant together would take more than %s, that number of tasks is left out. --full measures it. "+
			"CPU and ÷ muster are those of the most tasks that were measured.", readable.Duration(o.RowMax)))
	}
	if s := r.articleSection(o); len(s.Tables) > 0 {
		d.Sections = append(d.Sections, s)
	}
	for _, procs := range o.Procs {
		d.Sections = append(d.Sections, r.dispatchSection(o, procs))
	}
	d.Sections = append(d.Sections, r.modesSection(o))
	return Report{document: d}
}

// impls lists the contestants: muster first, then those with figures, and last those without
// any.
func (r view) impls() []string {
	impls, seen := []string{muster}, map[string]bool{muster: true}
	add := func(name string) {
		if impl := results.KeyOf(name, "impl"); impl != "" && !seen[impl] {
			seen[impl] = true
			impls = append(impls, impl)
		}
	}
	for _, s := range r.Samples {
		add(s.Name)
	}
	for _, a := range r.Absent {
		add(a.Name)
	}
	return impls
}

// dispatchName returns the name of a contestant's figure. The name lacks GOMAXPROCS if the
// contestant ignores it.
func (r view) dispatchName(impl, mode string, jobs, tasks, procs int) string {
	name := DispatchName(impl, mode, jobs, tasks, 0)
	if len(r.Figures(name, results.NsPerOp)) > 0 || r.Why(name) != "" {
		return name
	}
	return DispatchName(impl, mode, jobs, tasks, procs)
}

// articleSection returns the article's table: seconds for each number of tasks and each program.
func (r view) articleSection(o DispatchOptions) page.Section {
	var programs []column
	add := func(title, impl string, procs int) {
		if len(r.Figures(r.largestRow(o, impl, procs), results.NsPerOp)) == 0 {
			return
		}
		programs = append(programs, column{title: title, cell: func(row int) page.Cell {
			tasks := o.Tasks[row]
			return r.medianCell(r.dispatchName(impl, "single", o.Jobs, tasks, procs), results.NsPerOp, 1e9/float64(tasks))
		}})
	}
	for _, procs := range o.Procs {
		add(fmt.Sprintf("Go, GOMAXPROCS %d", procs), "article", procs)
	}
	add("C++, Boost", "cpp-boost", 0)
	add("C++, std", "cpp-std", 0)
	s := &sheet{view: r, Section: page.Section{
		Title: "The article's table",
		Text: []string{"The article's programs in Go (a channel with a buffer of one task per worker) and in C++ (a mutex, a condition variable " +
			"and a queue, from Boost and from the standard library). The article's times of 2011 for 10,000 to 100,000,000 tasks on 8 processors: C++ 0.03, 0.35, 3.43, 29.57 and 327.37 s; " +
			"Go at GOMAXPROCS 1: 0.00, 0.03, 0.35, 3.72 and 38.27 s."},
	}}
	if len(programs) > 0 {
		s.grid("seconds", "tasks", texts(o.Tasks, readable.Number), programs...)
	}
	return s.Section
}

func (r view) dispatchSection(o DispatchOptions, procs int) page.Section {
	s := &sheet{view: r, Section: page.Section{Title: "One by one, GOMAXPROCS " + strconv.Itoa(procs), Pictures: r.dispatchCharts(o, procs)}}
	impls := r.impls()
	all := columns(o.Tasks, func(tasks int) column {
		return column{title: readable.Number(tasks) + " tasks", unit: results.NsPerOp, best: true,
			name: func(row int) string { return r.dispatchName(impls[row], "single", o.Jobs, tasks, procs) }}
	})
	largest := func(row int) string { return r.largestRow(o, impls[row], procs) }
	all = append(all, column{title: "CPU", unit: results.CPUPerOp, name: largest}, column{title: "÷ muster", cell: func(row int) page.Cell {
		own := DispatchName(muster, "single", o.Jobs, tasksOf(largest(row)), procs)
		return page.Cell{Text: ratioText(r.timeRatio(largest(row), own))}
	}})
	s.grid(fmt.Sprintf("ns per task, dispatched one by one; contestants in Go at GOMAXPROCS %d", procs), "", impls, all...)
	return s.warned()
}

// largestRow returns the name of a contestant's figure for the most tasks that were not left out.
func (r view) largestRow(o DispatchOptions, impl string, procs int) (name string) {
	for _, tasks := range o.Tasks {
		if one := r.dispatchName(impl, "single", o.Jobs, tasks, procs); name == "" || len(r.Figures(one, results.NsPerOp)) > 0 {
			name = one
		}
	}
	return name
}

// tasksOf returns the number of tasks in the name of a figure.
func tasksOf(name string) int {
	n, _ := strconv.Atoi(results.KeyOf(name, "tasks"))
	return n
}

// highlighted returns the contestants that charts highlight: muster, the article's programs, and the
// fastest and the slowest of the others. The others are grey.
func (r view) highlighted(o DispatchOptions, procs int) []string {
	list := []string{muster, "article", "cpp-boost", "cpp-std"}
	median := func(impl string) float64 { return r.Summary(r.largestRow(o, impl, procs), results.NsPerOp).Median }
	others := slices.DeleteFunc(r.impls(), func(impl string) bool { return median(impl) == 0 || slices.Contains(list, impl) })
	if len(others) == 0 {
		return list
	}
	slices.SortStableFunc(others, func(a, b string) int { return cmp.Compare(median(a), median(b)) })
	return append(list, others[0], others[len(others)-1])
}

// dispatchCharts returns the time against the number of tasks, with a line per contestant, and
// bars of the time per task.
func (r view) dispatchCharts(o DispatchOptions, procs int) []plot.Chart {
	against := plot.Chart{
		Title: fmt.Sprintf("Time against tasks, GOMAXPROCS %d", procs),
		X:     plot.Axis{Label: "tasks", Log: true}, Y: plot.Axis{Label: "seconds", Log: true},
	}
	bright := r.highlighted(o, procs)
	var grey []string
	for _, impl := range r.impls() {
		l := plot.Line{Name: impl, Muted: !slices.Contains(bright, impl)}
		if l.Muted {
			grey = append(grey, impl)
		}
		for _, tasks := range o.Tasks {
			name := r.dispatchName(impl, "single", o.Jobs, tasks, procs)
			l.Points = append(l.Points, r.scaledPoint(float64(tasks), name, results.NsPerOp, float64(tasks)/1e9)...)
		}
		against.Lines = append(against.Lines, l)
	}
	bars := r.bars(fmt.Sprintf("Time per task, GOMAXPROCS %d", procs), "ns per task", r.impls(), results.NsPerOp, 1, func(impl string) string {
		return r.largestRow(o, impl, procs)
	})
	for i := range bars {
		bars[i].X.Muted = grey
	}
	return append(against.Drawable(), bars...)
}

func (r view) modesSection(o DispatchOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Other ways to dispatch tasks",
		Text: []string{"A pool that dispatches several tasks at a time must be able to redistribute them. Two modes test that: 64 adjacent tasks of 1 ms among 10,000 (ns per task of the 10,000), " +
			"and groups of tasks that wait for one another, one task per worker (ns per group). – marks a mode that a contestant lacks."},
	}}
	procs := o.Procs[len(o.Procs)-1]
	modes, impls := probe.DispatchModes()[1:], r.impls()
	tasks := ModeTasks(modes[0], o.Tasks[len(o.Tasks)-1])
	s.grid(fmt.Sprintf("ns, %s tasks; contestants in Go at GOMAXPROCS %d", readable.Number(tasks), procs), "", impls, columns(modes, func(mode string) column {
		return column{title: modeTitles[mode], unit: results.NsPerOp, best: true,
			name: func(row int) string { return r.dispatchName(impls[row], mode, o.Jobs, tasks, procs) }}
	})...)
	return s.warned()
}
