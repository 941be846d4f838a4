package keep

import (
	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// A Likeness is how one run of a candidate compares with the expected outcome, as a whole.
type Likeness int

// count adds a run to the record of its case. It ignores a run that was cut short.
func (l Likeness) count(rec *golden.Record) {
	if l == CutShort {
		return
	}
	rec.Runs++
	if l == Alike {
		rec.Equal++
	}
}

// All ways to compare, a closed set.
const (
	Unlike    Likeness = iota
	Alike              // no compared part differs
	CutShort           // a limit ended it, as one ended a run of the golden: it proves nothing
	Unmatched          // the golden has no outcome for it
)

// Compare compares one run with the golden outcome of its case.
func Compare(old, now *outcome.Outcome, same outcome.Same) (Likeness, error) {
	if outcome.LimitKnown(old, now) {
		return CutShort, nil
	}
	c, err := outcome.Compare(old, now, same)
	if err == nil && c.Identical() {
		return Alike, nil
	}
	return Unlike, err
}

// Judge returns the verdict on a case whose runs are joined in rec. The case is flaky if some runs
// equal the golden as a whole and others do not. If no run does, the kept run decides: c compares
// it with the golden outcome old. A case is unstable if its runs differ from each other and those
// of the golden do not.
func Judge(old *outcome.Outcome, rec *golden.Record, c outcome.Comparison) (v regress.Verdict, unstable bool) {
	switch {
	case rec.Equal == 0 && rec.Runs > 0 && c.Identical():
		return regress.Flaky, false // a later run of the reference varies in all parts that differ
	case rec.Equal == 0:
		return outcome.Judge(old, rec.Outcome.Kept(), c), rec.Outcome.VariesBeyond(old)
	case rec.Equal < rec.Runs:
		return regress.Flaky, false
	}
	return regress.Identical, false
}
