package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A row is a load of some seconds and the goals that are judged by it.
type row struct {
	name   string      // for -row
	store  objectStore // none = a folder
	load   load
	rounds int
	goals  []goal

	// contestants are muster, and those that it is compared with; nil = all file services.
	contestants []contestant
}

// A goal bounds a figure of the default engine in one operation.
type goal struct {
	operation, figure string
	of                func(result) float64
	form              string // of the figure

	// At most one of these is set. The first two bound the median of each round's ratio to nginx,
	// or to another contestant.
	least, most float64
	lower       bool    // than that one's in every round
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
		return row{name: name, load: load{disk: pageDisk, connections: 500, requests: 2000, size: size, duration: time.Second}, rounds: 5,
			goals: []goal{rateOf(download, least), p99Of(download, false), threadsOf(download)}}
	}
	slow := []goal{rateOf(upload, 1), p99Of(upload, true), threadsOf(upload), rateOf(download, 1), p99Of(download, true), threadsOf(download)}
	bounded := []goal{threadsOf(upload), threadsOf(download)}
	return []row{
		memory("get-50k", "50K", 0.8),
		memory("get-1k", "1K", 0.7),
		{name: "put-64m", load: load{disk: pageDisk, connections: 4, requests: 16, size: "64M"}, rounds: 5,
			goals: []goal{{operation: upload, figure: "CPU ms", of: cpu, form: "%.1f", most: 1.3}}},
		{name: "slow", load: load{disk: slowDisk, connections: 500, requests: 2000, size: "50K"}, rounds: 3, goals: slow},
		{name: "slow-hog", load: load{disk: slowDisk, connections: 500, requests: 2000, size: "50K", hogs: 1}, rounds: 3, goals: slow},
		{name: "5000", load: load{disk: pageDisk, connections: 5000, requests: 10_000, size: "50K"}, rounds: 2, goals: bounded},
		{name: "slow-5000", load: load{disk: slowDisk, connections: 5000, requests: 5000, size: "50K"}, rounds: 1, goals: bounded},
	}
}

// measureGoals prints a table of the goals of the named rows, and another one of those in a bucket.
func (b *bench) measureGoals(ctx context.Context, names string) error {
	chosen, err := b.choose(names)
	if err != nil {
		return err
	}
	b.engines = b.engines[:1]
	for _, r := range chosen {
		if _, err := os.Stat(b.program(r.store)); err != nil && r.store.name != "" {
			return fmt.Errorf("%w: install it with scripts/object-stores", err)
		}
	}
	for i, r := range chosen {
		if i == 0 || r.store.name != chosen[i-1].store.name {
			b.printHead(r.store.name)
		}
		b.load, b.rounds, b.chosen, b.operations = r.load, r.rounds, r.contestants, []string{upload, download}
		if !slices.ContainsFunc(r.goals, func(g goal) bool { return g.operation == download }) {
			b.operations = b.operations[:1]
		}
		measured, err := b.measure(ctx)
		if len(measured) > 0 && len(measured[0].rounds) > 0 {
			for _, g := range r.goals {
				if r.store.name != "" {
					b.printBeside(r, g, named(measured, g.operation))
				} else {
					b.printGoal(r.name, g, named(measured, g.operation))
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// choose returns the rows of the names: those of a folder are "all", those of an object store
// "bucket" or "minio".
func (b *bench) choose(names string) ([]row, error) {
	all := slices.Concat(rows(), b.bucketRows())
	switch names {
	case "all":
		return rows(), nil
	case "bucket", "minio":
		return slices.DeleteFunc(all, func(r row) bool { return !strings.HasPrefix(r.name, names+"-") }), nil
	}
	wanted := strings.Split(names, ",")
	chosen := slices.DeleteFunc(slices.Clone(all), func(r row) bool { return !slices.Contains(wanted, r.name) })
	if len(chosen) == len(wanted) {
		return chosen, nil
	}
	var possible []string
	for _, r := range all {
		possible = append(possible, r.name)
	}
	return nil, fmt.Errorf("-row %s: the rows are all, bucket, minio, or some of %s", names, strings.Join(possible, ", "))
}

func (b *bench) printHead(store string) {
	fmt.Fprintf(b.out, "%s; muster with --io %s, %d threads and --sync %s", time.Now().UTC().Format(time.DateOnly), b.engines[0], b.threads, b.sync)
	if store != "" {
		fmt.Fprintf(b.out, "; the object store is %s\n\n| row | load | figure | muster | beside | | muster ÷ that | goal | |\n|%s\n", store, strings.Repeat("---|", 9))
		return
	}
	fmt.Fprintf(b.out, "\n\n| row | load | figure | muster | %s | muster ÷ %s | goal | |\n|---|---|---|---|%s|\n",
		strings.Join(others, " | "), strings.Join(others, " | ÷ "), strings.Repeat("---|", 2*len(others)+2)+"---")
}

func (b *bench) printGoal(row string, g goal, by map[string]*samples) {
	ours := by["muster "+b.engines[0]]
	figures, ratios := []string{g.show(ours)}, []string{}
	for _, name := range others {
		ratio := "–"
		if s := by[name]; s != nil {
			ratio = fmt.Sprintf("%.2f", ours.beside(s, g.of))
		}
		figures, ratios = append(figures, g.show(by[name])), append(ratios, ratio)
	}
	wanted, verdict := g.judge(ours, by[nginxName], nginxName)
	fmt.Fprintf(b.out, "| %s | %s, %s | %s | %s | %s | %s | %s |\n", row, b.load, g.operation, g.figure,
		strings.Join(figures, " | "), strings.Join(ratios, " | "), wanted, verdict)
}

// printBeside prints a goal beside each of the other contestants.
func (b *bench) printBeside(r row, g goal, by map[string]*samples) {
	ours := by[r.contestants[0].name]
	for _, c := range r.contestants[1:] {
		other := by[c.name]
		wanted, verdict := g.judge(ours, other, "that")
		if n := ours.most(failed) + other.most(failed); n > 0 {
			verdict = fmt.Sprintf("missed: up to %.0f failed", n)
		}
		fmt.Fprintf(b.out, "| %s | %s, %s | %s | %s | %s | %s | %.2f | %s | %s |\n", r.name, b.load, g.operation, g.figure,
			g.show(ours), c.name, g.show(other), ours.beside(other, g.of), wanted, verdict)
	}
}

// show returns the figure of a contestant, which may be missing.
func (g goal) show(s *samples) string {
	switch {
	case s == nil:
		return "–"
	case g.top > 0:
		return fmt.Sprintf(g.form, s.most(g.of))
	}
	return fmt.Sprintf(g.form, s.median(g.of))
}

// judge returns the goal as text, and whether it is met beside another contestant.
func (g goal) judge(ours, other *samples, name string) (wanted, verdict string) {
	met := false
	switch {
	case g.top > 0:
		wanted, met = fmt.Sprintf("≤ %.0f", g.top), ours.most(g.of) <= g.top
	case g.least == 0 && g.most == 0 && !g.lower:
		return "", ""
	case other == nil:
		return "", "not measured"
	case g.lower:
		n := ours.lower(other, g.of)
		wanted, met = fmt.Sprintf("lower than %s in every round", name), n == len(ours.rounds)
		if !met {
			return wanted, fmt.Sprintf("missed: in %d of %d", n, len(ours.rounds))
		}
	case g.least > 0:
		wanted, met = fmt.Sprintf("≥ %.1f × %s", g.least, name), ours.beside(other, g.of) >= g.least
	default:
		wanted, met = fmt.Sprintf("≤ %.1f × %s", g.most, name), ours.beside(other, g.of) <= g.most
	}
	if met {
		return wanted, "met"
	}
	return wanted, "missed"
}
