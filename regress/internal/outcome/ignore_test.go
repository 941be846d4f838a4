package outcome_test

import (
	"testing"

	"muster/regress/internal/outcome"
)

func isLog(k outcome.Key) bool { return k.Path == "log" }

// ignoring returns the outcome with its log ignored.
func ignoring(o *outcome.Outcome) *outcome.Outcome {
	o.Ignore(isLog)
	return o
}

// Outcomes whose logs are ignored have one digest, so that a check need not look into them.
// One without a log has another: what is not compared must be counted.
func TestIgnoredPartsInDigests(t *testing.T) {
	one, two := ignoring(made(ok, "log", "1")), ignoring(made(ok, "log", "2"))
	if one.Digest() != two.Digest() || one.Digest() == made(ok).Digest() {
		t.Error("a digest depends on an ignored content, or not on the part")
	}
}

// Runs do not make an ignored part flaky, and each part that any run left is kept as ignored.
func TestMergeOfIgnoredParts(t *testing.T) {
	for _, runs := range [][2]*outcome.Outcome{
		{ignoring(made(ok, "log", "1")), ignoring(made(ok, "log", "2"))},
		{made(ok), ignoring(made(ok, "log", "2"))},
		{ignoring(made(ok, "log", "1")), made(ok)},
		{made(ok, "log", "1"), ignoring(made(ok, "log", "2"))},
	} {
		effect, err := outcome.Merge(runs[0], runs[1], nil)
		if err != nil || effect != outcome.Nothing || runs[0].Flaky() || len(runs[0].IgnoredParts()) != 1 {
			t.Errorf("%v, %v: %+v", effect, err, runs[0])
		}
	}
	varied := made(ok, "log", "1")
	mergeAll(t, varied, made(ok, "log", "2"))
	if varied.VariesBeyond(ignoring(made(ok, "log", "1"))) {
		t.Error("an ignored part varies")
	}
	accepted := ignoring(made(ok, "log", "3"))
	if accepted.KeepFlaky(varied); accepted.Flaky() || len(accepted.IgnoredParts()) != 1 {
		t.Errorf("an ignored part became flaky: %+v", accepted)
	}
	if kept := ignoring(varied).Kept(); len(kept.IgnoredParts()) != 1 {
		t.Errorf("%+v", kept)
	}
}

func TestIgnoreOf(t *testing.T) {
	o := made(ok, "f", "x")
	shared := *o
	o.IgnoreOf(made(ok, "f", "y", "log", "1"), isLog)
	if c, _ := outcome.Compare(made(ok, "f", "x", "log", "1"), o, nil); !c.Identical() || len(shared.Parts) != 3 {
		t.Errorf("%v, %+v", keys(c), shared)
	}
}
