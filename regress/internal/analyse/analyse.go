// Package analyse explains how cases differ. In go both sides of a case, their comparison and
// the rules of --normalize; out come causes, excerpts of edits, advice about paths of the work
// folder, and differences as reports and people read them.
//
// It judges no case, and knows no run, no options and no commands. It saves nothing: callers
// keep the causes, and emit the groups.
package analyse

import (
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// A Collector takes the cases that differ, and finds the causes of their differences. Several
// goroutines may call Add.
type Collector struct {
	Leaks    Leaks // looks at every case that Add takes
	rules    normalize.Rules
	analysis *cause.Analysis
}

// NewCollector returns an empty collector. It compares contents under rules.
func NewCollector(rules normalize.Rules) *Collector {
	return &Collector{rules: rules, analysis: cause.New()}
}

// Add takes a case that has a verdict, with both sides and their comparison. size is that of
// its source. A case whose verdict has no causes is left out.
func (l *Collector) Add(caseName string, size int64, v outcome.Verdict, was, is content.Side, c outcome.Comparison) error {
	if !hasCauses(v) {
		return nil
	}
	d, err := describe(l.rules, caseName, size, v, was, is, c)
	if err == nil {
		l.Leaks.look(d)
		l.analysis.Add(d)
	}
	return err
}

// Causes returns the causes of all cases that were added. Their names are printable.
func (l *Collector) Causes() *cause.Found { return MakePrintable(l.analysis.Causes()) }

// hasCauses reports whether cases of a verdict have causes: those that differ.
func hasCauses(v outcome.Verdict) bool {
	switch v {
	case outcome.Environment, outcome.Flaky, outcome.New, outcome.Missing, outcome.Identical:
		return false
	}
	return true
}
