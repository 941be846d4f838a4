package run

import (
	"bytes"
	"cmp"
	"slices"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/fault"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Ledger has the verdicts of a run. The goroutine that owns the run owns it.
type Ledger struct {
	Summary regress.Summary
	Absent  int // cases that count and that the corpus lacks

	events  *Events
	results []placedResult
	unused  unusedGlobs
}

// placedResult is a result with the index of its case in the corpus.
type placedResult struct {
	index  int
	result state.Result
}

// NewLedger returns an empty ledger. It reports each verdict to events.
func NewLedger(events *Events) *Ledger { return &Ledger{events: events} }

// WatchIgnored makes NoteUnused note those globs of --ignore that match no part. texts are
// the globs as they were given.
func (l *Ledger) WatchIgnored(texts []string, globs content.IgnoreList) {
	for i, text := range texts {
		l.unused = append(l.unused, unusedGlob{text, globs[i]})
	}
}

// NoteUnused notes the globs that matched no part of any case.
func (l *Ledger) NoteUnused(cases int) {
	for _, text := range l.unused.notes(cases) {
		l.events.Note(text)
	}
}

// Verdict counts and reports the verdict of a case.
func (l *Ledger) Verdict(c report.Case) {
	l.Summary.Verdicts[c.Verdict]++
	report.AddMasked(&l.Summary.Masked, c)
	l.unused.drop(c.Ignored)
	if c.Verdict != regress.Identical {
		l.results = append(l.results, placedResult{c.Index, state.Result{
			Name: []byte(c.Name), Verdict: c.Verdict, Unstable: c.Unstable, Why: c.Why,
			Stopped: isStopped(c), Engine: c.Engine,
		}})
		if isStopped(c) && (c.Verdict == regress.New || c.Verdict == regress.Flaky) {
			l.Summary.Stopped++
		}
	}
	l.events.Emit(c)
}

// isStopped reports whether a signal or a limit ended a case and did not in the golden.
func isStopped(c report.Case) bool {
	if c.Ending == nil || c.Ending.Kind == regress.Exited {
		return false
	}
	return c.GoldenEnding == nil || *c.GoldenEnding != *c.Ending
}

// NotRun counts and reports the cases that did not run.
func (l *Ledger) NotRun(cases []corpus.Entry, judged func(index int) bool) {
	for i, c := range cases {
		if !judged(i) {
			l.Summary.NotRun++
			l.events.Emit(report.NotRun{Name: c.Name, Index: i})
		}
	}
}

// EnvironmentFailed gives a case the verdict environment if err is of that class. Otherwise, and
// after too many such cases, it returns an error.
func (l *Ledger) EnvironmentFailed(t pass.Task, err error) error {
	if regress.ClassOf(err) != regress.Environment {
		return err
	}
	l.Verdict(report.Case{Name: t.Entry.Name, Index: t.Index, Verdict: regress.EnvironmentFailed, Why: wording.Of(err)})
	if l.Summary.Verdicts[regress.EnvironmentFailed] >= pass.EnvironmentMax {
		return fault.Environmentf("%s failed because of the machine, the last one: %w", readable.Cases(pass.EnvironmentMax), err)
	}
	return nil
}

// Results returns the results of all cases that are not identical, in corpus order.
func (l *Ledger) Results() []state.Result {
	slices.SortFunc(l.results, func(a, b placedResult) int {
		return cmp.Or(cmp.Compare(a.index, b.index), bytes.Compare(a.result.Name, b.result.Name))
	})
	results := make([]state.Result, len(l.results))
	for i, p := range l.results {
		results[i] = p.result
	}
	return results
}
