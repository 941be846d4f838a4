package regress

import (
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// likeness is how one run of a candidate stands to the outcome that it is compared with,
// as a whole.
type likeness int

// The ways, a closed set.
const (
	unlike    likeness = iota
	alike              // nothing that counts differs
	cutShort           // a limit ended it, as one ended a run of the golden: it proves nothing
	unmatched          // there is no outcome to compare it with
)

// likenessOf compares one run with the golden outcome of its case.
func likenessOf(old, now *outcome.Outcome, same outcome.Same) (likeness, error) {
	if outcome.LimitKnown(old, now) {
		return cutShort, nil
	}
	c, err := outcome.Compare(old, now, same)
	if err == nil && c.Identical() {
		return alike, nil
	}
	return unlike, err
}

// count adds a run to the record of its case. A run that was cut short does not count.
func (l likeness) count(rec *golden.Record) {
	if l == cutShort {
		return
	}
	rec.Runs++
	if l == alike {
		rec.Equal++
	}
}

// verdictOf returns the verdict on a case whose runs are joined in rec. The case is flaky
// if some runs equal the golden as a whole and some do not. If none does, the kept run
// gives the verdict: c compares it with the golden outcome old. A case is unstable if its
// runs differ from each other where those of the golden do not.
func verdictOf(old *outcome.Outcome, rec *golden.Record, c outcome.Comparison) (v outcome.Verdict, unstable bool) {
	switch {
	case rec.Equal == 0 && rec.Runs > 0 && c.Identical():
		return outcome.Flaky, false // a later run of the reference varies in all parts that differ
	case rec.Equal == 0:
		return outcome.Judge(old, rec.Outcome.Kept(), c), rec.Outcome.VariesBeyond(old)
	case rec.Equal < rec.Runs:
		return outcome.Flaky, false
	}
	return outcome.Identical, false
}
