package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/bench/timing"
)

// A goal is the most that a figure may be on a corpus, for a quick compiler.
type goal struct {
	corpus      string
	over, under string // rows whose times are divided; "" = muster's own CPU for a case, in µs
	most        float64
}

// The rows that goals compare.
const (
	rowCheck  = "check"
	rowRecord = "record --repeat 2"
	rowMake   = "make"
	rowXargs  = "xargs"
)

var goals = []goal{
	{"1GB", "", "", 240},
	{"1GB", rowCheck, rowMake, 0.97},
	{"1GB", rowRecord, rowCheck, 1.8},
	{"67MB", "", "", 240},
	{"1KB", "", "", 120},
	{"1KB", rowCheck, rowMake, 0.80},
	{"1KB", rowRecord, rowCheck, 1.8},
	{"54k", rowCheck, rowXargs, 0.85},
}

// judge measures the goals of the corpus, and nothing else: each row once in every round.
func (m *measured) judge(ctx context.Context) error {
	wanted := slices.DeleteFunc(slices.Clone(goals), func(g goal) bool { return g.corpus != m.spec.Name })
	rows := m.rows(func(kind string) bool {
		return kind == rowCheck || kind != "" && slices.ContainsFunc(wanted, func(g goal) bool { return kind == g.over || kind == g.under })
	})
	if err := m.interleave(ctx, rows); err != nil {
		return err
	}
	fmt.Fprintf(m.out, "\n## Goals: %s, %s: %d cases, %d at once\n\n| | goal | median | least–most | |\n|---|---|---|---|---|\n", m.tool.name, m.spec.Name, m.spec.Cases, m.jobs)
	for _, s := range m.subjects {
		for _, g := range wanted {
			name, form, figures := g.of(s, rows)
			fmt.Fprintf(m.out, "| %s | at most "+form+" | %s |\n", s.called(name), g.most, g.result(form, figures))
		}
	}
	return nil
}

// of returns the figures of each round, what they are, and how they are printed.
func (g goal) of(s *subject, rows []row) (name, form string, figures []float64) {
	if g.over == "" {
		for _, sum := range s.summaries {
			figures = append(figures, s.perCase(sum.Own))
		}
		return "own CPU for a case", "%.0f µs", figures
	}
	over, under := find(s, rows, g.over), find(s, rows, g.under)
	for i := range min(len(over), len(under)) {
		figures = append(figures, float64(over[i].Wall)/float64(under[i].Wall))
	}
	return g.over + " ÷ " + g.under, "%.2f", figures
}

// find returns the samples of a kind of row: of the subject, or of a rival.
func find(s *subject, rows []row, kind string) []timing.Sample {
	for _, r := range rows {
		if r.kind == kind && (r.of == nil || r.of == s) {
			return r.samples
		}
	}
	return nil
}

// result returns the last columns of a goal's row.
func (g goal) result(form string, figures []float64) string {
	if len(figures) == 0 {
		return "– | – | not measured"
	}
	middle, verdict := timing.Median(figures), "met"
	if middle > g.most {
		verdict = "missed"
	}
	return fmt.Sprintf(strings.Join([]string{form, "%s", verdict}, " | "), middle,
		fmt.Sprintf(form+"–"+form, slices.Min(figures), slices.Max(figures)))
}
