// Package analyse explains how cases differ. Its input is both sides of a case, their comparison
// and the rules of --normalize. Its output is causes, excerpts of edits, advice about paths of the
// work folder, and differences for reports and people.
//
// It judges no case, and knows no run, options or commands. It stores nothing: callers keep the
// causes, and emit the groups.
package analyse

import (
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// A Collector collects the cases that differ, and finds the causes of their differences. Several
// goroutines may call Add.
type Collector struct {
	Leaks    Leaks // examines every case that Add collects
	rules    normalize.Rules
	analysis *cause.Analysis
}

// NewCollector returns an empty collector. It compares contents under rules.
func NewCollector(rules normalize.Rules) *Collector {
	return &Collector{rules: rules, analysis: cause.New()}
}

// Add adds a case with a verdict, both sides and their comparison. size is the size of its source.
// It ignores a case whose verdict has no causes.
func (l *Collector) Add(caseName string, size int64, v regress.Verdict, was, is content.Side, c outcome.Comparison) error {
	if !hasCauses(v) {
		return nil
	}
	d, err := describe(l.rules, caseName, size, v, was, is, c)
	if err == nil {
		l.Leaks.examine(d)
		l.analysis.Add(d)
	}
	return err
}

// Causes returns the causes of all added cases. Their names are printable.
func (l *Collector) Causes() *cause.Found { return MakePrintable(l.analysis.Causes()) }

// hasCauses reports whether cases with a verdict have causes, because they differ.
func hasCauses(v regress.Verdict) bool {
	switch v {
	case regress.EnvironmentFailed, regress.Flaky, regress.New, regress.Missing, regress.Identical:
		return false
	}
	return true
}
