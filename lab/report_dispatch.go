package lab

import (
	"fmt"
	"strconv"

	"muster/lab/internal/run"
	"muster/lab/page"
	"muster/lab/probe"
	"muster/lab/results"
)

// modeTitles say what each mode of dispatch measures.
var modeTitles = map[string]string{
	"batch":     "in batches of 64",
	"producers": "from 8 producers",
	"foreach":   "a loop over all",
	"makespan":  "64 long ones",
	"barrier":   "that wait",
}

// DispatchReport shows the results of [Dispatch].
func DispatchReport(of *Results, o DispatchOptions) Report {
	r := view{of}
	d := newDocument(of, "What it costs to hand out a task",
		fmt.Sprintf("Trivial tasks for %d workers, in ns for each task: by the clock, from the first one to the end of the last.", o.Jobs),
		howMeasured(o.Count))
	if s := r.asInTheArticle(o); len(s.Tables) > 0 {
		d.Sections = append(d.Sections, s)
	}
	for _, procs := range o.Procs {
		d.Sections = append(d.Sections, r.dispatchSection(o, procs))
	}
	d.Sections = append(d.Sections, r.modesSection(o))
	return Report{document: d}
}

// impls lists the contestants, muster first, and then those that were measured before
// those of which all is absent.
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

// dispatchName is the figure of a contestant with that GOMAXPROCS, or without any where
// it obeys none.
func (r view) dispatchName(impl, mode string, jobs, tasks, procs int) string {
	name := DispatchName(impl, mode, jobs, tasks, 0)
	if len(r.Figures(name, results.NsPerOp)) > 0 || r.Why(name) != "" {
		return name
	}
	return DispatchName(impl, mode, jobs, tasks, procs)
}

// asInTheArticle is the articles' table: tasks and seconds, for each language.
func (r view) asInTheArticle(o DispatchOptions) page.Section {
	s := page.Section{
		Title: "As the article printed it",
		Text: []string{"The program of the article in Go (a channel of as many places as workers) and in C++ (a mutex, a condition variable " +
			"and a queue; Boost's and the standard library's). In 2011, for 10,000 to 100,000,000 tasks on 8 processors: C++ 0.03, 0.35, 3.43, 29.57 and 327.37 s; " +
			"Go, GOMAXPROCS 1: 0.00, 0.03, 0.35, 3.72 and 38.27 s."},
	}
	add := func(title, impl string, procs int) {
		t := page.Table{Caption: title, Columns: []page.Column{{Title: "tasks", Right: true}, {Title: "seconds", Right: true}}}
		for _, tasks := range o.Tasks {
			sum := r.Summary(r.dispatchName(impl, "single", o.Jobs, tasks, procs), results.NsPerOp)
			if sum.N > 0 {
				t.Rows = append(t.Rows, page.Row(fmt.Sprintf("%10d", tasks), fmt.Sprintf("%.2f", sum.Median*float64(tasks)/1e9)))
			}
		}
		if len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	for _, procs := range o.Procs {
		add(fmt.Sprintf("Go, GOMAXPROCS %d", procs), "article", procs)
	}
	add("C++, Boost", "cpp-boost", 0)
	add("C++, standard library", "cpp-std", 0)
	return s
}

func (r view) dispatchSection(o DispatchOptions, procs int) page.Section {
	var titles []string
	for _, tasks := range o.Tasks {
		titles = append(titles, grouped(int64(tasks))+" tasks")
	}
	most := o.Tasks[len(o.Tasks)-1]
	own := DispatchName(run.Muster, "single", o.Jobs, most, procs)
	t := page.Table{
		Caption: fmt.Sprintf("ns for each task, handed out one by one; what is in Go with GOMAXPROCS %d", procs),
		Columns: columns("", append(titles, "CPU", "÷ muster")...),
	}
	var names, all []string
	for _, impl := range r.impls() {
		row := page.Row(impl)
		name := ""
		for _, tasks := range o.Tasks {
			name = r.dispatchName(impl, "single", o.Jobs, tasks, procs)
			row = append(row, r.cell(name, results.NsPerOp, 1))
			all = append(all, name)
		}
		row = append(row, r.cell(name, results.CPUPerOp, 1), page.Cell{Text: ratioText(r.Ratio(name, own, results.NsPerOp))})
		names = append(names, name)
		t.Rows = append(t.Rows, row)
	}
	r.markBest(t.Rows, len(o.Tasks), results.NsPerOp, names)
	return page.Section{
		Title: "One by one, GOMAXPROCS " + strconv.Itoa(procs), Tables: []page.Table{t},
		Warnings: r.warnings(all),
	}
}

func (r view) modesSection(o DispatchOptions) page.Section {
	procs := o.Procs[len(o.Procs)-1]
	tasks := ModeTasks(probe.DispatchModes()[1], o.Tasks[len(o.Tasks)-1])
	var titles, all []string
	modes := probe.DispatchModes()[1:]
	for _, mode := range modes {
		titles = append(titles, modeTitles[mode])
	}
	t := page.Table{
		Caption: fmt.Sprintf("ns, %s tasks; what is in Go with GOMAXPROCS %d", grouped(int64(tasks)), procs),
		Columns: columns("", titles...),
	}
	impls := r.impls()
	for _, impl := range impls {
		row := page.Row(impl)
		for _, mode := range modes {
			name := r.dispatchName(impl, mode, o.Jobs, tasks, procs)
			row = append(row, r.cell(name, results.NsPerOp, 1))
			all = append(all, name)
		}
		t.Rows = append(t.Rows, row)
	}
	for i, mode := range modes {
		var names []string
		for _, impl := range impls {
			names = append(names, r.dispatchName(impl, mode, o.Jobs, tasks, procs))
		}
		r.markBest(t.Rows, i+1, results.NsPerOp, names)
	}
	return page.Section{
		Title: "Other ways to hand them out",
		Text: []string{"Whoever hands out several tasks at a time must be able to take them back. Two tests show that: 64 tasks of 1 ms side by side among 10,000 (ns for each of the 10,000), " +
			"and tasks that wait for one another, as many as there are workers (ns for each such group). – is where a contestant has nothing of the kind."},
		Tables: []page.Table{t}, Warnings: r.warnings(all),
	}
}
