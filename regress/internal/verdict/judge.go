package verdict

import (
	"slices"

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
	digest, known := j.Baseline.Digest(caseName)
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
	if err := j.Differences.Add(e.Name, e.Size, judged.Verdict, was, is, cmp); err != nil {
		return judged, err
	}
	judged.Differences, judged.More, err = analyse.Differences(j.Rules, was, is, cmp)
	return judged, err
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
	return content.NewSide(&old.Outcome, content.Cache(j.Baseline.Content)), content.KeptSide(&rec.Outcome, content.Cache(j.Found.Content))
}
