package outcome_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/outcome"
)

func part(place outcome.Place, path, content string) outcome.Part {
	return outcome.Part{Key: outcome.Key{Place: place, Path: path}, Size: int64(len(content)), Digest: outcome.Of([]byte(content))}
}

func made(ending regress.Ending, files ...string) *outcome.Outcome {
	o := &outcome.Outcome{Ending: ending, Parts: []outcome.Part{part(outcome.Stdout, "", "out"), part(outcome.Stderr, "", "")}}
	for i := 0; i < len(files); i += 2 {
		o.Parts = append(o.Parts, part(outcome.File, files[i], files[i+1]))
	}
	o.Sort()
	return o
}

var (
	ok      = regress.Ending{}
	failed  = regress.Ending{Kind: regress.Exited, Code: 1}
	failed2 = regress.Ending{Kind: regress.Exited, Code: 2}
	segv    = regress.Ending{Kind: regress.Signalled, Code: 11}
	abort   = regress.Ending{Kind: regress.Signalled, Code: 6}
	slow    = regress.Ending{Kind: regress.TimedOut}
	hungry  = regress.Ending{Kind: regress.OutOfMemory}
	chatty  = regress.Ending{Kind: regress.OutputLimit}
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		old, now regress.Ending
		want     regress.Verdict
	}{
		{ok, ok, regress.Identical}, {failed, failed, regress.Identical}, {segv, segv, regress.Identical},
		{ok, failed, regress.NewlyFailing}, {failed, ok, regress.NewlyPassing}, {failed, failed2, regress.Changed},
		{ok, segv, regress.Crashed}, {failed, segv, regress.Crashed}, {abort, segv, regress.Crashed},
		{segv, ok, regress.NewlyPassing}, {segv, failed, regress.Changed},
		{ok, slow, regress.NewlyTimedOut}, {slow, slow, regress.Identical}, {slow, ok, regress.NewlyPassing}, {slow, failed, regress.Changed},
		{ok, hungry, regress.NewlyOutOfMemory}, {slow, hungry, regress.NewlyOutOfMemory}, {failed, chatty, regress.NewlyOutputLimited},
	} {
		a, b := made(c.old), made(c.now)
		cmp, err := outcome.Compare(a, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome.Judge(a, b, cmp); got != c.want {
			t.Errorf("%v → %v: %v, want %v", c.old, c.now, got, c.want)
		}
	}
}

func keys(c outcome.Comparison) []string {
	var names []string
	for _, d := range c.Parts {
		names = append(names, d.Key.String())
	}
	return names
}

func TestCompareFindsEveryDifferingPart(t *testing.T) {
	old := made(ok, "a", "1", "b", "2", "gone", "x", "same", "s")
	now := made(ok, "a", "1", "b", "3", "new", "y", "same", "s")
	old.Parts[0].Digest = outcome.Of([]byte("other"))
	c, err := outcome.Compare(old, now, nil)
	if err != nil || c.EndingDiffers || !slices.Equal(keys(c), []string{"stdout", "b", "gone", "new"}) {
		t.Errorf("%v, %v", keys(c), err)
	}
	// A file named like a stream is another part.
	c, _ = outcome.Compare(made(ok), made(ok, "stdout", "x"), nil)
	if len(c.Parts) != 1 || c.Parts[0].Place != outcome.File {
		t.Errorf("%+v", c.Parts)
	}
}

// Runs that are joined already bring all that they vary in, whichever run of them is kept.
func TestMergeOfJoinedRuns(t *testing.T) {
	joined := made(hungry)
	mergeAll(t, joined, made(slow))
	kept := made(chatty)
	mergeAll(t, kept, joined)
	for _, e := range []regress.Ending{hungry, slow, chatty} {
		if !kept.EndedAs(e) {
			t.Errorf("%v is lost among limits", e)
		}
	}
	joined = made(ok, "f", "1")
	mergeAll(t, joined, made(failed, "f", "2", "g", "x"))
	for _, first := range []*outcome.Outcome{made(ok, "f", "1"), made(slow)} {
		mergeAll(t, first, joined)
		if !first.EndedAs(failed) {
			t.Errorf("an ending is lost: %+v", first)
		}
		if c, _ := outcome.Compare(first, made(ok, "f", "3", "g", "y"), nil); !c.Identical() {
			t.Errorf("flaky parts are compared: %v", keys(c))
		}
	}
}

func mergeAll(t *testing.T, o *outcome.Outcome, further ...*outcome.Outcome) {
	t.Helper()
	for _, again := range further {
		if _, err := outcome.Merge(o, again, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Contents of further runs are kept, up to a bound, and a part that only they left is none
// of the run that is kept.
func TestVariants(t *testing.T) {
	o := made(ok, "f", "0")
	for i := range 2 * outcome.VariantsMax {
		if _, err := outcome.Merge(o, made(ok, "f", strconv.Itoa(i%6), "extra", "x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	f, _ := o.Part(outcome.Key{Place: outcome.File, Path: "f"})
	if len(f.Variants) != outcome.VariantsMax || f.Variants[0].Digest != outcome.Of([]byte("1")) {
		t.Errorf("%+v", f)
	}
	if kept := o.Kept(); len(kept.Parts) != 3 || kept.Flaky() || kept.Digest() != made(ok, "f", "0").Digest() {
		t.Errorf("%+v", kept)
	}
}

// An accept of an outcome that shares nothing with the golden's set replaces the set.
func TestKeepFlakyDropsWhatIsReplaced(t *testing.T) {
	old := made(ok, "clock", "1")
	for _, again := range []*outcome.Outcome{made(failed, "clock", "2"), made(slow)} {
		if _, err := outcome.Merge(old, again, nil); err != nil {
			t.Fatal(err)
		}
	}
	crashed := made(segv, "clock", "")
	crashed.KeepFlaky(old)
	if crashed.EndingFlaky() {
		t.Errorf("after a crash that replaces it the golden keeps %v", crashed.Others)
	}
	mended := made(ok, "clock", "3")
	mended.KeepFlaky(crashed)
	if mended.EndingFlaky() {
		t.Errorf("after the mend the golden keeps %v", mended.Others)
	}
	for name, c := range map[string]struct {
		now       *outcome.Outcome
		identical bool
	}{
		"the crash comes back": {made(segv, "clock", "4"), false},
		"an empty clock":       {made(ok, "clock", ""), false},
		"another clock":        {made(ok, "clock", "5"), true},
		"no clock":             {made(ok), false},
	} {
		if got, _ := outcome.Compare(mended, c.now, nil); got.Identical() != c.identical {
			t.Errorf("%s: %v, ending differs: %t", name, keys(got), got.EndingDiffers)
		}
	}
}

var endings = []regress.Ending{ok, failed, segv, slow, hungry, chatty}

func anOutcome(t *rapid.T, label string) *outcome.Outcome {
	var files []string
	for _, name := range []string{"a", "b", "stdout"} {
		if rapid.Bool().Draw(t, label+name) {
			files = append(files, name, rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, label+name+"content"))
		}
	}
	o := made(rapid.SampledFrom(endings).Draw(t, label+"ending"), files...)
	for i := range o.Parts {
		o.Parts[i].Exec = o.Parts[i].Place == outcome.File && rapid.Bool().Draw(t, label+"exec")
	}
	return o
}

// Without flaky parts two outcomes have the same digest exactly when they
// compare as identical, whichever is the golden.
func TestDigestMeansIdentical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anOutcome(t, "a"), anOutcome(t, "b")
		there, _ := outcome.Compare(a, b, nil)
		back, _ := outcome.Compare(b, a, nil)
		same := a.Digest() == b.Digest()
		if there.Identical() != same || back.Identical() != same {
			t.Fatalf("identical %v and %v, same digest %v", there.Identical(), back.Identical(), same)
		}
		v := outcome.Judge(a, b, there)
		if (v == regress.Identical) != same {
			t.Fatalf("verdict %v", v)
		}
	})
}

// After merging, no complete run differs any more, and a complete one is kept
// if there was one.
func TestMergedRunsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anOutcome(t, "a"), anOutcome(t, "b")
		complete := !a.Ending.Partial() || !b.Ending.Partial()
		if _, err := outcome.Merge(a, b, nil); err != nil {
			t.Fatal(err)
		}
		if a.Ending.Partial() == complete {
			t.Fatalf("kept %v", a.Ending)
		}
		if c, _ := outcome.Compare(a, b, nil); !c.Identical() && b.Ending.Partial() == a.Ending.Partial() {
			t.Fatalf("still differ in %v", keys(c))
		}
	})
}

func TestTextForms(t *testing.T) {
	for _, v := range regress.AllVerdicts() {
		text, err := json.Marshal(v)
		var back regress.Verdict
		if err != nil || json.Unmarshal(text, &back) != nil || back != v {
			t.Errorf("%v: %s, %v", v, text, err)
		}
	}
	for _, e := range endings {
		text, err := json.Marshal(e)
		var back regress.Ending
		if err != nil || json.Unmarshal(text, &back) != nil || back != e {
			t.Errorf("%v: %s, %v", e, text, err)
		}
	}
	if got := segv.String(); got != "signal 11 (SIGSEGV)" {
		t.Error(got)
	}
	if got := regress.NewlyFailing.Key(); got != "newly_failing" {
		t.Error(got)
	}
}

// Merge leaves the parts of a copy alone: a caller may hold the outcome of the first run.
func TestMergeOwnsItsParts(t *testing.T) {
	first := made(ok, "b", "1")
	joined := *first
	if _, err := outcome.Merge(&joined, made(ok, "a", "x", "b", "2"), nil); err != nil {
		t.Fatal(err)
	}
	if first.Flaky() || first.Digest() != made(ok, "b", "1").Digest() || !joined.Flaky() {
		t.Errorf("first %+v, joined %+v", first, joined)
	}
}
