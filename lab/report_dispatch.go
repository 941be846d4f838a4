package lab

import (
	"fmt"
	"slices"
	"strconv"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
)

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
	impls, seen := []string{run.Muster}, map[string]bool{run.Muster: true}
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
	t := page.Table{Caption: "seconds", Columns: newColumns("tasks")}
	for _, tasks := range o.Tasks {
		t.Rows = append(t.Rows, page.Row(readable.Number(int64(tasks))))
	}
	add := func(title, impl string, procs int) {
		if len(r.Figures(r.largestRow(o, impl, procs), results.NsPerOp)) == 0 {
			return
		}
		t.Columns = append(t.Columns, page.Column{Title: title, Right: true})
		for i, tasks := range o.Tasks {
			t.Rows[i] = append(t.Rows[i], r.medianCell(r.dispatchName(impl, "single", o.Jobs, tasks, procs), results.NsPerOp, 1e9/float64(tasks)))
		}
	}
	for _, procs := range o.Procs {
		add(fmt.Sprintf("Go, GOMAXPROCS %d", procs), "article", procs)
	}
	add("C++, Boost", "cpp-boost", 0)
	add("C++, std", "cpp-std", 0)
	s := page.Section{
		Title: "The article's table",
		Text: []string{"The article's programs in Go (a channel with a buffer of one task per worker) and in C++ (a mutex, a condition variable " +
			"and a queue, from Boost and from the standard library). The article's times of 2011 for 10,000 to 100,000,000 tasks on 8 processors: C++ 0.03, 0.35, 3.43, 29.57 and 327.37 s; " +
			"Go at GOMAXPROCS 1: 0.00, 0.03, 0.35, 3.72 and 38.27 s."},
	}
	if len(t.Columns) > 1 {
		s.Tables = []page.Table{t}
	}
	return s
}

func (r view) dispatchSection(o DispatchOptions, procs int) page.Section {
	titles := texts(o.Tasks, func(tasks int) string { return readable.Number(tasks) + " tasks" })
	t := page.Table{
		Caption: fmt.Sprintf("ns per task, dispatched one by one; contestants in Go at GOMAXPROCS %d", procs),
		Columns: newColumns("", append(titles, "CPU", "÷ muster")...),
	}
	var all []string
	for _, impl := range r.impls() {
		row := page.Row(impl)
		for _, tasks := range o.Tasks {
			name := r.dispatchName(impl, "single", o.Jobs, tasks, procs)
			row = append(row, r.medianCell(name, results.NsPerOp, 1))
			all = append(all, name)
		}
		name := r.largestRow(o, impl, procs)
		own := DispatchName(run.Muster, "single", o.Jobs, tasksOf(name), procs)
		row = append(row, r.medianCell(name, results.CPUPerOp, 1), page.Cell{Text: ratioText(r.timeRatio(name, own))})
		t.Rows = append(t.Rows, row)
	}
	for i, tasks := range o.Tasks {
		names := texts(r.impls(), func(impl string) string { return r.dispatchName(impl, "single", o.Jobs, tasks, procs) })
		r.markBest(t.Rows, i+1, results.NsPerOp, names)
	}
	return page.Section{
		Title: "One by one, GOMAXPROCS " + strconv.Itoa(procs), Tables: []page.Table{t}, Pictures: r.dispatchCharts(o, procs),
		Warnings: r.warnings(all),
	}
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
	list := []string{run.Muster, "article", "cpp-boost", "cpp-std"}
	var fastest, slowest string
	var least, most float64
	for _, impl := range r.impls() {
		s := r.Summary(r.largestRow(o, impl, procs), results.NsPerOp)
		if s.N == 0 || slices.Contains(list, impl) {
			continue
		}
		if fastest == "" || s.Median < least {
			fastest, least = impl, s.Median
		}
		if slowest == "" || s.Median > most {
			slowest, most = impl, s.Median
		}
	}
	return append(list, fastest, slowest)
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
	procs := o.Procs[len(o.Procs)-1]
	tasks := ModeTasks(probe.DispatchModes()[1], o.Tasks[len(o.Tasks)-1])
	modes := probe.DispatchModes()[1:]
	titles := texts(modes, func(mode string) string { return modeTitles[mode] })
	var all []string
	t := page.Table{
		Caption: fmt.Sprintf("ns, %s tasks; contestants in Go at GOMAXPROCS %d", readable.Number(int64(tasks)), procs),
		Columns: newColumns("", titles...),
	}
	impls := r.impls()
	for _, impl := range impls {
		row := page.Row(impl)
		for _, mode := range modes {
			name := r.dispatchName(impl, mode, o.Jobs, tasks, procs)
			row = append(row, r.medianCell(name, results.NsPerOp, 1))
			all = append(all, name)
		}
		t.Rows = append(t.Rows, row)
	}
	for i, mode := range modes {
		names := texts(impls, func(impl string) string { return r.dispatchName(impl, mode, o.Jobs, tasks, procs) })
		r.markBest(t.Rows, i+1, results.NsPerOp, names)
	}
	return page.Section{
		Title: "Other ways to dispatch tasks",
		Text: []string{"A pool that dispatches several tasks at a time must be able to redistribute them. Two modes test that: 64 adjacent tasks of 1 ms among 10,000 (ns per task of the 10,000), " +
			"and groups of tasks that wait for one another, one task per worker (ns per group). – marks a mode that a contestant lacks."},
		Tables: []page.Table{t}, Warnings: r.warnings(all),
	}
}
