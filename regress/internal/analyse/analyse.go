// Package analyse explains how cases differ. Its input is both sides of a case, their comparison
// and the rules of --normalize. Its output is causes, excerpts of edits, advice about paths of the
// work folder, and differences for reports and people.
//
// It judges no case, and knows no run, options or commands. It stores nothing: callers keep the
// causes, and emit the groups.
package analyse

import (
	"slices"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
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
	d, err := describe(l.rules, caseName, size, was, is, c)
	if err == nil {
		l.Leaks.examine(d)
		l.analysis.Add(d)
	}
	return err
}

// Report adds a case, and describes its differences in its report.
func (l *Collector) Report(to *report.Case, caseName string, size int64, was, is content.Side, c outcome.Comparison) (err error) {
	if err = l.Add(caseName, size, to.Verdict, was, is, c); err == nil {
		to.Differences, to.More, err = Differences(l.rules, was, is, c)
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

// An Explanation holds the known causes that two outcomes of a case show.
type Explanation struct {
	Verdict regress.Verdict
	Causes  []int // indexes of the causes that show, ascending
	All     bool  // every edit belongs to one of these causes
}

// Explain compares two outcomes of a case under rules, and returns the causes of an index that they
// show. size is the size of the source. Several goroutines may call it.
func Explain(rules normalize.Rules, index *cause.Index, caseName string, size int64, was, is content.Side) (t Explanation, err error) {
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(rules, was, is))
	if err != nil {
		return t, err
	}
	if t.Verdict = outcome.Judge(was.Outcome, is.Outcome, c); !hasCauses(t.Verdict) {
		return t, nil
	}
	d, err := describe(rules, caseName, size, was, is, c)
	if err == nil {
		t.Causes, t.All = index.Explain(d)
	}
	return t, err
}

// ContainsAll reports whether list contains all of some.
func ContainsAll(list, some []int) bool {
	return !slices.ContainsFunc(some, func(i int) bool { return !slices.Contains(list, i) })
}

// EmitGroups calls emit for each cause, with the names of its cases. The first excerptsMax have
// an excerpt.
func EmitGroups(found *cause.Found, rules normalize.Rules, sides SidesOf, emit func(report.Group)) error {
	members := CasesByCause(found)
	for i, c := range found.Causes {
		g := report.Group{Cause: c, Members: members[i]}
		if i < excerptsMax {
			var err error
			if g.Excerpt, err = Excerpt(found, i, c.Example, rules, sides, diff.Excerpt); err != nil {
				return err
			}
		}
		emit(g)
	}
	return nil
}

// excerptsMax bounds the causes with an excerpt. The others have only a name.
const excerptsMax = 500

// CasesByCause lists the names of the cases of each cause.
func CasesByCause(f *cause.Found) [][]string {
	members := make([][]string, len(f.Causes))
	for _, m := range f.Members {
		for _, i := range m.Causes {
			members[i] = append(members[i], m.Name)
		}
	}
	return members
}

// MakePrintable puts the names of causes on one line each, and replaces characters that hide text
// or control a terminal, because names contain output of tools. It changes f and returns it.
func MakePrintable(f *cause.Found) *cause.Found {
	for i := range f.Causes {
		c := &f.Causes[i]
		c.Name, c.Family = readable.Line(c.Name), readable.Line(c.Family)
		for _, names := range [][]string{c.Joined, c.Folded} {
			for j := range names {
				names[j] = readable.Line(names[j])
			}
		}
	}
	return f
}
