package content

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"muster/regress"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// contents are all contents of a test, by their digests.
type contents map[outcome.Digest][]byte

func (c contents) open(p outcome.Part) (io.ReadCloser, error) {
	b, known := c[p.Digest]
	if !known {
		return nil, errors.New("no such content")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// run returns the outcome of a run that left a text in the file f, or no such file for "".
func (c contents) run(text string, f outcome.Form) *outcome.Outcome {
	o := &outcome.Outcome{}
	if text != "" {
		d := outcome.Of([]byte(text))
		c[d] = []byte(text)
		o.Parts = []outcome.Part{{Key: outcome.Key{Place: outcome.File, Path: "f"}, Form: f, Size: int64(len(text)), Digest: d}}
	}
	return o
}

// joined returns a golden outcome of runs that left these texts.
func (c contents) joined(t *testing.T, texts ...string) Side {
	t.Helper()
	o := c.run(texts[0], outcome.Regular)
	for _, text := range texts[1:] {
		again := c.run(text, outcome.Regular)
		if _, err := outcome.Merge(o, again, SameUnder(nil, Side{Open: c.open}, Side{Open: c.open})); err != nil {
			t.Fatal(err)
		}
	}
	return NewSide(o, c.open)
}

func framed(what any) string { return fmt.Sprintf("a\nb\nat %v\nc\nd\n", what) }

func TestAroundHoles(t *testing.T) {
	for name, c := range map[string]struct {
		golden, now []string // texts of the runs of either side
		rules       []string
		want        bool
		holes       regress.Holes
		masked      int
	}{
		"another number":          {golden: []string{framed(1), framed(2)}, now: []string{framed(3)}, want: true, holes: regress.Holes{Parts: 1, Lines: 1, AllLines: 5}, masked: 1},
		"a word":                  {golden: []string{framed(1), framed(2)}, now: []string{framed("x")}, holes: regress.Holes{Parts: 1, Lines: 1, AllLines: 5}, masked: 1},
		"a wrong line":            {golden: []string{framed(1), framed(2)}, now: []string{framed(1) + "e\n"}, holes: regress.Holes{Parts: 1, Lines: 1, AllLines: 5}, masked: 1},
		"a whole part":            {golden: []string{"1\n", "2\n"}, now: []string{"x\n"}, want: true, holes: regress.Holes{Whole: 1}, masked: 1},
		"the rules make it equal": {golden: []string{framed(1), framed(2)}, now: []string{framed(3)}, rules: []string{"s/[0-9]/N/"}, want: true},
		"the rules, a wrong line": {golden: []string{framed(1), framed(2)}, now: []string{framed(3) + "e\n"}, rules: []string{"s/[0-9]/N/"}},
		"now and then, equal":     {golden: []string{"", "x\n"}, now: []string{"x\n"}, want: true, holes: regress.Holes{Absent: 1}, masked: 1},
		"now and then, absent":    {golden: []string{"", "x\n"}, now: []string{""}, want: true, holes: regress.Holes{Absent: 1}, masked: 1},
		"now and then, another":   {golden: []string{"", "x\n"}, now: []string{"y\n"}, holes: regress.Holes{Absent: 1}, masked: 1},
		"both vary, another text": {golden: []string{"", "x\n"}, now: []string{"", "y\n"}, holes: regress.Holes{Absent: 1}, masked: 1},
		"both vary, the same":     {golden: []string{"", "x\n"}, now: []string{"", "x\n"}, want: true, holes: regress.Holes{Absent: 1}, masked: 1},
		"the candidate varies":    {golden: []string{framed(3)}, now: []string{framed(1), framed(2)}, want: true},
		"the candidate is wrong":  {golden: []string{framed(3)}, now: []string{framed(1) + "e\n", framed(2) + "e\n"}},
	} {
		all := contents{}
		rules, err := normalize.Parse(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		was, is := all.joined(t, c.golden...), all.joined(t, c.now...)
		got, err := outcome.Compare(was.Outcome, is.Outcome, SameUnder(rules, was, is))
		if err != nil || got.Identical() != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		left, err := UncomparedIn(rules, was)
		if err != nil || left.Holes != c.holes || len(left.Masked) != c.masked {
			t.Errorf("%s: %+v, %v", name, left, err)
		}
	}
}

// A golden may lack the texts of a flaky part. Then the part is not compared, and that is counted.
func TestPartWithoutTextsCounts(t *testing.T) {
	for seen, want := range map[outcome.Shapes]int{
		outcome.AllShapes: 1, outcome.ShapesOf(outcome.Filled): 1, outcome.ShapesOf(outcome.Absent, outcome.Link): 1, outcome.ShapesOf(outcome.Absent, outcome.Empty): 0,
	} {
		o := &outcome.Outcome{Parts: []outcome.Part{{Key: outcome.Key{Place: outcome.File, Path: "f"}, Flaky: true, Seen: seen}}}
		if left, err := UncomparedIn(nil, NewSide(o, contents{}.open)); err != nil || left.Holes.Whole != want || len(left.Masked) != 1 {
			t.Errorf("%v: %+v, %v", seen.List(), left, err)
		}
	}
}

// The golden keeps a text of each form, so that a link after many files is compared.
func TestEachFormIsKept(t *testing.T) {
	all := contents{}
	var texts []string
	for i := range 2 + outcome.VariantsMax {
		texts = append(texts, framed(i))
	}
	golden := all.joined(t, texts...)
	if _, err := outcome.Merge(golden.Outcome, all.run("good", outcome.Symlink), nil); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"good": true, "bad": false} {
		now := Side{Outcome: all.run(target, outcome.Symlink), Open: all.open}
		got, err := outcome.Compare(golden.Outcome, now.Outcome, SameUnder(nil, golden, now))
		if err != nil || got.Identical() != want {
			t.Errorf("a link to %s: %+v, %v", target, got, err)
		}
	}
}

// Only what counts differs in the texts for people. Where nothing would be left, they are as they are.
func TestTextsHaveMarks(t *testing.T) {
	all := contents{}
	was := all.joined(t, framed(1), framed(2))
	for now, want := range map[string][2]string{
		framed(3) + "e\n": {framed("⟨number⟩"), framed("⟨number⟩") + "e\n"},
		framed(3):         {framed(1), framed(3)},
	} {
		is := Side{Outcome: all.run(now, outcome.Regular), Open: all.open}
		a, b, err := Texts(nil, was, is, &was.Outcome.Parts[0], &is.Outcome.Parts[0])
		if err != nil || string(a) != want[0] || string(b) != want[1] {
			t.Errorf("%q, %q, %v", a, b, err)
		}
	}
}

// A suggested rule makes all holes of its class go away.
func TestSuggestedRulesWork(t *testing.T) {
	for what, texts := range map[string][2]string{
		"a time":           {framed("2026-11-25 01:02:03"), framed("2026-11-25 01:02:04")},
		"C's date":         {framed("Nov 25 2026 01:02:03"), framed("Nov 25 2026 01:02:04")},
		"a clock":          {framed("01:02:03.5"), framed("01:02:04.6")},
		"a date with zone": {framed("Wed Nov 25 01:02:03 UTC 2026"), framed("Wed Nov 25 01:02:04 UTC 2026")},
		"an address":       {framed("0xab"), framed("0xac")},
		"a UUID":           {framed("01234567-0123-0123-0123-0123456789ab"), framed("01234567-0123-0123-0123-0123456789ac")},
		"a temporary path": {framed("/tmp/ccA1.o"), framed("/tmp/ccB2.o")},
		"a duration":       {framed("1m2s"), framed("1.5ms")},
	} {
		s := contents{}.joined(t, texts[0], texts[1])
		found := map[string]bool{}
		if err := Suggest(nil, s, found); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", what, found, err)
			continue
		}
		for rule := range found {
			rules, err := normalize.Parse([]string{rule})
			if err != nil {
				t.Fatal(err)
			}
			if left, err := UncomparedIn(rules, Side{Outcome: s.Outcome, Open: s.Open}); err != nil || len(left.Masked) > 0 {
				t.Errorf("%s: %s leaves %+v, %v", what, rule, left, err)
			}
		}
	}
	wide, err := HasWideHoles(nil, contents{}.joined(t, framed("x y"), framed("y x")))
	narrow, err2 := HasWideHoles(nil, contents{}.joined(t, framed(1), framed(2)))
	if !wide || narrow || errors.Join(err, err2) != nil {
		t.Error(wide, narrow, err, err2)
	}
	if !slices.Equal(FlakyParts(contents{}.joined(t, "1", "2").Outcome), []string{"f"}) {
		t.Error("f is not flaky")
	}
}

// A new outcome keeps the holes of the one that it replaces, and nothing that the change rewrote.
func TestHolesAreCarriedOver(t *testing.T) {
	for name, c := range map[string]struct {
		was, now []string
		fit      map[string]bool
	}{
		"one run":              {[]string{framed(1), framed(2)}, []string{framed(3) + "new\n"}, map[string]bool{framed(4) + "new\n": true, framed(4): false, framed(4) + "other\n": false}},
		"runs of one second":   {[]string{framed("12:00:01"), framed("12:00:02")}, []string{framed("13:00:00") + "1\n", framed("13:00:00") + "2\n"}, map[string]bool{framed("13:00:09") + "3\n": true, framed("never") + "3\n": false}},
		"as many as are kept":  {[]string{framed(1), framed(2)}, []string{framed("a b 1"), framed("a b 2"), framed("a b 3"), framed("a b 4"), framed("a b 5"), framed("a b 6")}, map[string]bool{framed("a b 7"): true, framed("a c 7"): false}},
		"no hole that it fits": {[]string{framed(1), framed(2)}, []string{"x\ny\nz\n"}, map[string]bool{"x\ny\nz\n": true, "x\ny\nw\n": false, framed(1): false}},
		"a hole that is gone":  {[]string{"a\nb\ntook 1\none\n", "a\nb\ntook 2\none\n"}, []string{"a\nb\ntwo\n"}, map[string]bool{"a\nb\ntwo\n": true, "a\nb\none\n": false, "a\nb\nthree\n": false}},
	} {
		all := contents{}
		old, o := all.joined(t, c.was...), all.joined(t, c.now...).Outcome
		o.KeepFlaky(old.Outcome)
		open, err := KeepHoles(o, all.open, old)
		if err != nil {
			t.Fatal(err)
		}
		side := Side{Outcome: o, Open: open}
		for text, want := range c.fit {
			now := Side{Outcome: all.run(text, outcome.Regular), Open: all.open}
			got, err := outcome.Compare(o, now.Outcome, SameUnder(nil, side, now))
			if err != nil || got.Identical() != want {
				t.Errorf("%s: %q: %+v, %v", name, text, got, err)
			}
		}
		if n := len(o.Parts[0].Variants); n > outcome.VariantsMax {
			t.Errorf("%s: %d variants", name, n)
		}
	}
}
