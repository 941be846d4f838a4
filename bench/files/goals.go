package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A row is a load of some seconds and the goals that are judged by it.
type row struct {
	name   string // for -row
	load   load
	rounds int
	goals  []goal
}

// A goal bounds a figure of the default engine in one operation.
type goal struct {
	operation, figure string
	of                func(result) float64
	form              string // of the figure

	// At most one of these is set. The first two bound the median of each round's ratio to nginx.
	least, most float64
	lower       bool    // than nginx's in every round
	top         float64 // the most of all rounds
}

const (
	upload, download = "upload", "download"
	threadsMost      = 46 // 32 for files, 4 for names, and Go's own
)

func rateOf(operation string, least float64) goal {
	return goal{operation: operation, figure: "requests/s", of: perSecond, form: "%.0f", least: least}
}

func p99Of(operation string, lower bool) goal {
	return goal{operation: operation, figure: "p99 ms", of: p99, form: "%.1f", lower: lower}
}

func threadsOf(operation string) goal {
	return goal{operation: operation, figure: "threads", of: threads, form: "%.0f", top: threadsMost}
}

// rows returns the loads of all goals of the file service.
func rows() []row {
	memory := func(name, size string, least float64) row {
		return row{name, load{disk: pageDisk, connections: 500, requests: 2000, size: size, duration: time.Second}, 5,
			[]goal{rateOf(download, least), p99Of(download, false), threadsOf(download)}}
	}
	slow := []goal{rateOf(upload, 1), p99Of(upload, true), threadsOf(upload), rateOf(download, 1), p99Of(download, true), threadsOf(download)}
	bounded := []goal{threadsOf(upload), threadsOf(download)}
	return []row{
		memory("get-50k", "50K", 0.8),
		memory("get-1k", "1K", 0.7),
		{"put-64m", load{disk: pageDisk, connections: 4, requests: 16, size: "64M"}, 5,
			[]goal{{operation: upload, figure: "CPU ms", of: cpu, form: "%.1f", most: 1.3}}},
		{"slow", load{disk: slowDisk, connections: 500, requests: 2000, size: "50K"}, 3, slow},
		{"slow-hog", load{disk: slowDisk, connections: 500, requests: 2000, size: "50K", hogs: 1}, 3, slow},
		{"5000", load{disk: pageDisk, connections: 5000, requests: 10_000, size: "50K"}, 2, bounded},
		{"slow-5000", load{disk: slowDisk, connections: 5000, requests: 5000, size: "50K"}, 1, bounded},
	}
}

// measureGoals prints a table of the goals of the named rows.
func (b *bench) measureGoals(ctx context.Context, names string) error {
	all := rows()
	if names != "all" {
		wanted := strings.Split(names, ",")
		all = slices.DeleteFunc(all, func(r row) bool { return !slices.Contains(wanted, r.name) })
		if len(all) != len(wanted) {
			return fmt.Errorf("-row %s: the rows are all, get-50k, get-1k, put-64m, slow, slow-hog, 5000 and slow-5000", names)
		}
	}
	b.engines = b.engines[:1]
	fmt.Fprintf(b.out, "%s; muster with --io %s, %d threads and --sync %s\n\n"+
		"| row | load | figure | muster | %s | muster ÷ %s | goal | |\n|---|---|---|---|%s|\n",
		time.Now().UTC().Format(time.DateOnly), b.engines[0], b.threads, b.sync,
		strings.Join(others, " | "), strings.Join(others, " | ÷ "), strings.Repeat("---|", 2*len(others)+2)+"---")
	for _, r := range all {
		b.load, b.rounds, b.operations = r.load, r.rounds, []string{upload, download}
		if !slices.ContainsFunc(r.goals, func(g goal) bool { return g.operation == download }) {
			b.operations = b.operations[:1]
		}
		measured, err := b.measure(ctx)
		if len(measured) > 0 && len(measured[0].rounds) > 0 {
			for _, g := range r.goals {
				b.printGoal(r.name, g, named(measured, g.operation))
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (b *bench) printGoal(row string, g goal, by map[string]*samples) {
	ours := by["muster "+b.engines[0]]
	show := func(s *samples) string {
		switch {
		case s == nil:
			return "–"
		case g.top > 0:
			return fmt.Sprintf(g.form, s.most(g.of))
		}
		return fmt.Sprintf(g.form, s.median(g.of))
	}
	figures, ratios := []string{show(ours)}, []string{}
	for _, name := range others {
		ratio := "–"
		if s := by[name]; s != nil {
			ratio = fmt.Sprintf("%.2f", ours.beside(s, g.of))
		}
		figures, ratios = append(figures, show(by[name])), append(ratios, ratio)
	}
	wanted, verdict := g.judge(ours, by[nginxName])
	fmt.Fprintf(b.out, "| %s | %s, %s | %s | %s | %s | %s | %s |\n", row, b.load, g.operation, g.figure,
		strings.Join(figures, " | "), strings.Join(ratios, " | "), wanted, verdict)
}

// judge returns the goal as text, and whether it is met.
func (g goal) judge(ours, nginx *samples) (wanted, verdict string) {
	met := false
	switch {
	case g.top > 0:
		wanted, met = fmt.Sprintf("≤ %.0f", g.top), ours.most(g.of) <= g.top
	case g.least == 0 && g.most == 0 && !g.lower:
		return "", ""
	case nginx == nil:
		return "", "not measured"
	case g.lower:
		n := ours.lower(nginx, g.of)
		wanted, met = "lower than nginx in every round", n == len(ours.rounds)
		if !met {
			return wanted, fmt.Sprintf("missed: in %d of %d", n, len(ours.rounds))
		}
	case g.least > 0:
		wanted, met = fmt.Sprintf("≥ %.1f × nginx", g.least), ours.beside(nginx, g.of) >= g.least
	default:
		wanted, met = fmt.Sprintf("≤ %.1f × nginx", g.most), ours.beside(nginx, g.of) <= g.most
	}
	if met {
		return wanted, "met"
	}
	return wanted, "missed"
}
