package verdict

import (
	"context"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/sample"
	"muster/regress/internal/state"
)

// A Judge compares the candidate's runs with the baseline, and decides the verdicts of cases.
// Several goroutines may call its methods.
type Judge struct {
	Baseline    Baseline
	Reference   *Reference                 // the Baseline, if that is a command; else nil
	Masks       func(caseName string) bool // reports whether parts of a case vary in the golden; nil with a Reference
	Found       *keep.Store                // the outcomes of cases that are not identical
	Rules       normalize.Rules
	Ignored     content.IgnoreList
	Comparer    content.Comparer
	Differences *analyse.Collector
}

// Compare compares one run of the candidate with the baseline, and names the parts that it left
// out. Equal digests spare it to read the baseline's outcome.
func (j *Judge) Compare(caseName string, r *exec.Result) (l keep.Likeness, left content.Uncompared, err error) {
	digest, known := j.Baseline.OutcomeDigest(caseName)
	switch {
	case known && digest == r.Outcome.Digest() && !r.Outcome.Ending.Partial():
		return keep.Alike, left.With(&r.Outcome), nil
	case !j.Baseline.Has(caseName):
		return keep.Unmatched, left, nil
	}
	old, _, err := j.Baseline.Get(caseName)
	if err != nil {
		return keep.Unlike, left, err
	}
	r.Outcome.IgnoreOf(&old.Outcome, j.Ignored.Match)
	side := content.NewSide(&old.Outcome, j.Baseline.Content)
	l, err = keep.Compare(&old.Outcome, &r.Outcome, j.Comparer.SameSides(side, content.Side{Open: r.Open}))
	if err != nil {
		return l, left, err
	}
	left, err = j.uncomparedIn(side)
	return l, left.With(&r.Outcome), err
}

// masked returns the parts that the golden masks in an identical case with this ending. It
// returns none with a Reference, because no outcome of an identical case is stored.
func (j *Judge) masked(caseName string, ended regress.Ending) (left content.Uncompared, err error) {
	if j.Reference != nil || !j.Masks(caseName) && !ended.Partial() {
		return left, nil
	}
	old, _, err := j.Baseline.Get(caseName)
	if err != nil {
		return left, err
	}
	return j.uncomparedIn(content.Side{Outcome: &old.Outcome, Open: j.Baseline.Content})
}

// identicalResult returns the result of a first run that was identical, from its line in the journal.
func (j *Judge) identicalResult(caseName string, l state.Line) (r firstResult, err error) {
	r = firstResult{
		identical: true, ending: regress.Ending{Kind: l.Kind, Code: l.Code},
		cost:     outcome.Cost{CPU: time.Duration(l.CPU), Wall: time.Duration(l.Wall), PeakRSS: l.Peak},
		onEngine: l.Engine, reused: l.Reused, forked: l.Forked, silent: l.Silent, lane: exec.NoLane,
	}
	if r.left, err = j.masked(caseName, r.ending); err == nil {
		r.left, err = r.left.PlusPrinted(l.Ignored)
	}
	return r, err
}

// uncomparedIn is content.UncomparedIn within the bound on memory.
func (j *Judge) uncomparedIn(s content.Side) (left content.Uncompared, err error) {
	if !s.Outcome.Flaky() {
		return content.UncomparedIn(j.Rules, s)
	}
	err = j.Comparer.Hold(content.Size(s.Outcome), func() (err error) {
		left, err = content.UncomparedIn(j.Rules, s)
		return err
	})
	return left, err
}

// Stored returns the record of a case, and whether its outcomes on both sides are stored.
func (j *Judge) Stored(caseName string) (rec golden.Record, stored bool, err error) {
	rec, stored, err = j.Found.Get(caseName)
	if err == nil && stored && j.Reference != nil {
		_, stored, err = j.Reference.Get(caseName)
	}
	return rec, stored, err
}

// decide gives a case its verdict after all its runs. If every run was identical, no outcome is
// stored and decided is false.
func (j *Judge) decide(t pass.Task) (judged report.Case, decided bool, err error) {
	rec, decided, err := j.Found.Get(t.Entry.Name)
	if err != nil || !decided {
		return judged, decided, err
	}
	old, known, err := j.Baseline.Get(t.Entry.Name)
	switch {
	case err != nil:
		return judged, true, err
	case !known:
		return report.Case{Verdict: regress.New, Ending: &rec.Outcome.Ending, Cost: rec.Cost, Flaky: content.FlakyParts(&rec.Outcome), Unstable: rec.Outcome.Flaky()}, true, nil
	}
	err = j.Comparer.Hold(content.Size(&old.Outcome)+content.Size(&rec.Outcome), func() (err error) {
		judged, err = j.decideBy(t.Entry, &old, &rec)
		return err
	})
	return judged, true, err
}

// decideBy gives the verdict on a case whose runs are joined in rec.
func (j *Judge) decideBy(e *corpus.Entry, old, rec *golden.Record) (judged report.Case, err error) {
	was, is := j.sidesOf(old, rec)
	cmp, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(j.Rules, was, is))
	if err != nil {
		return judged, err
	}
	judged = report.Case{
		Ending: &rec.Outcome.Ending, GoldenEnding: &old.Outcome.Ending,
		Cost: rec.Cost, Flaky: content.FlakyParts(&rec.Outcome),
	}
	left, err := content.VaryingIn(j.Rules, was)
	if err != nil {
		return judged, err
	}
	left = left.With(&rec.Outcome)
	judged.Masked, judged.Ignored, judged.Holes = left.Masked, left.Ignored, left.Holes
	judged.Verdict, judged.Unstable = keep.Judge(was.Outcome, rec, cmp)
	if j.Reference != nil { // its runs were part of this run, too
		for _, part := range judged.Masked {
			if !slices.Contains(judged.Flaky, part) {
				judged.Flaky = append(judged.Flaky, part)
			}
		}
	}
	return judged, j.Differences.Report(&judged, e.Name, e.Size, was, is, cmp)
}

// Sides returns both sides of a case that differed.
func (j *Judge) Sides(caseName string) (was, is content.Side, err error) {
	old, _, err := j.Baseline.Get(caseName)
	if err != nil {
		return was, is, err
	}
	rec, _, err := j.Found.Get(caseName)
	was, is = j.sidesOf(&old, &rec)
	return was, is, err
}

func (j *Judge) sidesOf(old, rec *golden.Record) (was, is content.Side) {
	return content.NewSide(&old.Outcome, j.Baseline.Content).Cached(), content.KeptSide(&rec.Outcome, j.Found.Content).Cached()
}

// FinishedCases runs a Sample of the finished cases again before a run is resumed.
type FinishedCases struct {
	Judge   *Judge
	Numbers RunNumbers
	Done    *Finished
	Command func(caseName string) *exec.Command
	Sample  *sample.Sample
}

// Repeat runs a sample of the finished cases among all tasks again, and refuses to resume if one has
// another outcome now. If no case is left to run, outcomes of two tools cannot mix, and Repeat does
// nothing. It reuses the slice.
func (f *FinishedCases) Repeat(ctx context.Context, all []pass.Task) error {
	left := f.Done.Count < len(all) || f.Numbers.Identical > 1 || slices.Contains(f.Done.differs, true)
	if !left {
		return nil
	}
	finished := slices.DeleteFunc(all, func(t pass.Task) bool { return !f.Done.Has(t.Index) })
	return f.Sample.Repeat(ctx, finished, f.isAsBefore)
}

// isAsBefore reports whether a finished case still has its outcome. An identical case must equal
// the golden, or a run of the reference beside it.
func (f *FinishedCases) isAsBefore(ctx context.Context, t pass.Task) (same bool, err error) {
	name, judge := t.Entry.Name, f.Judge
	identical := !f.Done.differs[t.Index]
	expected := sample.Expectation{Task: t, Command: f.Command(name), Stable: identical}
	switch {
	case identical && judge.Reference != nil:
		for n := 0; n <= f.Numbers.Retries && err == nil && !same; n++ {
			same, err = f.meetsReference(ctx, expected)
		}
		return same, err
	case identical:
		old, _, err := judge.Baseline.Get(name)
		if err != nil {
			return false, err
		}
		old.Outcome.Ignore(judge.Ignored.Match)
		expected.Was, expected.Open = old.Outcome, judge.Baseline.Content
		return f.Sample.IsMet(ctx, expected)
	}
	is, stored, err := judge.Stored(name)
	if err != nil || !stored {
		return err == nil, err // it runs again in any case
	}
	if judge.Reference != nil {
		was, _, err := judge.Reference.Get(name)
		if err == nil {
			same, err = f.Sample.IsMet(ctx, sample.Expectation{Task: t, Command: judge.Reference.Command, Was: was.Outcome, Open: judge.Reference.Content})
		}
		if err != nil || !same {
			return false, err
		}
	}
	expected.Was, expected.Open = is.Outcome, judge.Found.Content
	return f.Sample.IsMet(ctx, expected)
}

// meetsReference runs the reference once, and the candidate beside it.
func (f *FinishedCases) meetsReference(ctx context.Context, candidate sample.Expectation) (same bool, err error) {
	r, err := f.Sample.RunOnce(ctx, candidate.Task, f.Judge.Reference.Command)
	if err != nil {
		return false, err
	}
	defer r.Release()
	candidate.Was, candidate.Open = r.Outcome, r.Open
	return f.Sample.IsMet(ctx, candidate)
}
