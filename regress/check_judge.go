package regress

import (
	"slices"

	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// compare compares one run of the candidate with the baseline, and names the parts that it left
// out. Equal digests spare it to read the baseline's outcome.
func (c *checking) compare(name string, r *exec.Result) (l keep.Likeness, left content.Uncompared, err error) {
	digest, known := c.base.Digest(name)
	switch {
	case known && digest == r.Outcome.Digest() && !r.Outcome.Ending.Partial():
		return keep.Alike, left.With(&r.Outcome), nil
	case !c.base.Has(name):
		return keep.Unmatched, left, nil
	}
	old, _, err := c.base.Get(name)
	if err != nil {
		return keep.Unlike, left, err
	}
	r.Outcome.IgnoreOf(&old.Outcome, c.ignored.Match)
	l, err = keep.Compare(&old.Outcome, &r.Outcome, c.comparer.Same(c.base.Content, r.Open))
	return l, content.UncomparedIn(&old.Outcome).With(&r.Outcome), err
}

// maskedParts names the parts that the golden masks in an identical case that ended so. Of a
// reference the run keeps no outcome of an identical case.
func (c *checking) maskedParts(name string, ended outcome.Ending) ([]string, error) {
	if c.reference != nil || !c.recorded.masks(name) && !ended.Partial() {
		return nil, nil
	}
	old, _, err := c.base.Get(name)
	return content.MaskedParts(&old.Outcome), err
}

// judge gives a case its verdict after all its runs.
func (c *checking) judge(f firstRun) (word report.Case, err error) {
	name := f.task.Entry.Name
	rec, stored, err := c.found.Get(name)
	if err != nil || !stored {
		return f.word, err // every run was identical
	}
	old, known, err := c.base.Get(name)
	switch {
	case err != nil:
		return word, err
	case !known:
		return report.Case{Verdict: outcome.New, Ending: &rec.Outcome.Ending, Cost: rec.Cost, Flaky: content.FlakyParts(&rec.Outcome), Unstable: rec.Outcome.Flaky()}, nil
	}
	err = c.comparer.Hold(content.Size(&old.Outcome)+content.Size(&rec.Outcome), func() (err error) {
		word, err = c.judgeRuns(f.task.Entry, &old, &rec)
		return err
	})
	return word, err
}

// judgeRuns gives the verdict on a case whose runs are joined in rec.
func (c *checking) judgeRuns(e *corpus.Entry, old, rec *golden.Record) (word report.Case, err error) {
	was, is := content.Side{Outcome: &old.Outcome, Open: content.Remembering(c.base.Content)}, content.KeptSide(&rec.Outcome, content.Remembering(c.found.Content))
	cmp, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(c.rules, was.Open, is.Open))
	if err != nil {
		return word, err
	}
	word = report.Case{
		Ending: &rec.Outcome.Ending, GoldenEnding: &old.Outcome.Ending,
		Cost: rec.Cost, Flaky: content.FlakyParts(&rec.Outcome),
	}
	left := content.Uncompared{Masked: content.FlakyParts(&old.Outcome), Ignored: content.IgnoredParts(&old.Outcome)}.With(&rec.Outcome)
	word.Masked, word.Ignored = left.Masked, left.Ignored
	word.Verdict, word.Unstable = keep.Judge(was.Outcome, rec, cmp)
	if c.reference != nil { // its runs were of this check, too
		for _, part := range word.Masked {
			if !slices.Contains(word.Flaky, part) {
				word.Flaky = append(word.Flaky, part)
			}
		}
	}
	if err := c.differences.Add(e.Name, e.Size, word.Verdict, was, is, cmp); err != nil {
		return word, err
	}
	word.Differences, word.More, err = analyse.Differences(c.rules, was, is, cmp)
	return word, err
}

// sides returns both sides of a case that differed.
func (c *checking) sides(caseName string) (was, is content.Side, err error) {
	old, _, err := c.base.Get(caseName)
	if err != nil {
		return was, is, err
	}
	rec, _, err := c.found.Get(caseName)
	return content.Side{Outcome: &old.Outcome, Open: content.Remembering(c.base.Content)}, content.KeptSide(&rec.Outcome, content.Remembering(c.found.Content)), err
}
