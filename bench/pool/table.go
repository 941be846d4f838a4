package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/lab"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/lab/stat"
)

// contest prints results as Markdown.
type contest struct {
	results *lab.Results
	options lab.DispatchOptions
	out     io.Writer
}

const muster = "muster"

var titles = map[string]string{
	"single":    "One by one",
	"batch":     "In batches of 64",
	"producers": "From eight producers",
	"foreach":   "A loop over all items",
	"makespan":  "64 tasks of 1 ms among 10,000, side by side (for each of the 10,000)",
	"barrier":   "Tasks that wait for one another (for each group)",
}

// print writes a table for each mode, fastest first, and the goals.
func (c *contest) print() {
	fmt.Fprintf(c.out, "%d workers, GOMAXPROCS %d, %d tasks, %d rounds in turns; medians, in ns for each task, and where the median lies at 95 %%.\n\n",
		c.options.Jobs, c.procs(), c.tasks(), c.options.Count)
	for _, p := range c.results.Conditions {
		fmt.Fprintf(c.out, "* %s: %s\n", p.Key, p.Value)
	}
	for _, m := range c.results.Missing {
		fmt.Fprintf(c.out, "\nNot here: %s (%s; %s).\n", m.Peer, m.Reason, m.Install)
	}
	for _, mode := range probe.DispatchModes() {
		c.printMode(mode)
	}
	c.printGoals()
}

func (c *contest) procs() int { return c.options.Procs[0] }
func (c *contest) tasks() int { return c.options.Tasks[0] }

// figures returns the figures of a contestant in one mode, by round.
func (c *contest) figures(at key, unit string) []float64 {
	tasks := lab.ModeTasks(at.mode, c.tasks())
	if f := c.results.Figures(lab.DispatchName(at.impl, at.mode, c.options.Jobs, tasks, c.procs()), unit); len(f) > 0 {
		return f
	}
	return c.results.Figures(lab.DispatchName(at.impl, at.mode, c.options.Jobs, tasks, 0), unit)
}

// key is one contestant in one mode.
type key struct{ impl, mode string }

// impls lists the contestants by name, in the order of measurement.
func (c *contest) impls() (impls []string) {
	for _, s := range c.results.Samples {
		if impl := results.KeyOf(s.Name, "impl"); !slices.Contains(impls, impl) {
			impls = append(impls, impl)
		}
	}
	return impls
}

type row struct {
	impl      string
	wall, cpu stat.Summary
}

func (c *contest) printMode(mode string) {
	var rows []row
	var ours float64
	for _, impl := range c.impls() {
		r := row{impl, stat.Summarize(c.figures(key{impl, mode}, "ns/op")), stat.Summarize(c.figures(key{impl, mode}, "cpu-ns/op"))}
		if r.wall.N == 0 {
			continue
		}
		rows = append(rows, r)
		if impl == muster {
			ours = r.wall.Median
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if a.wall.Median < b.wall.Median {
			return -1
		}
		return 1
	})
	fmt.Fprintf(c.out, "\n## %s\n\n| | wall | from–to | CPU | ÷ muster |\n|---|---:|---:|---:|---:|\n", titles[mode])
	for _, r := range rows {
		if r.impl == muster {
			r.impl = "**muster**"
		}
		fmt.Fprintf(c.out, "| %s | %.1f | %.1f–%.1f | %.1f | %.2f |\n", r.impl, r.wall.Median, r.wall.Low, r.wall.High, r.cpu.Median, r.wall.Median/ours)
	}
	for _, a := range c.results.Absent {
		if strings.Contains(a.Name, "/mode="+mode+"/") && a.Why == results.NeverEnds {
			fmt.Fprintf(c.out, "\n%s does not end.\n", a.Name)
		}
	}
}
