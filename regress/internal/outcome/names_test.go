package outcome

import (
	"fmt"
	"testing"
)

// left returns an outcome whose run left files of these names, each with a content.
func left(content byte, names ...string) *Outcome {
	o := &Outcome{Parts: []Part{{Key: Key{Place: Stdout}, Digest: Digest{1}}}}
	for _, name := range names {
		o.Parts = append(o.Parts, Part{Key: Key{File, name}, Size: 1, Digest: Digest{content}})
	}
	o.Sort()
	return o
}

// isKnown reports whether a run of a part had the content of another one.
func isKnown(o, n Part) (bool, error) {
	for _, v := range append(o.Variants, Variant{Digest: o.Digest}) {
		if v.Digest == n.Digest {
			return true, nil
		}
	}
	return false, nil
}

// Files whose names vary are compared with those whose names fit, in any number.
func TestNamesThatVary(t *testing.T) {
	for name, c := range map[string]struct {
		first, second, now *Outcome
		want               int // differing parts
	}{
		"another name":         {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "tmp.cccc33"), 0},
		"the same name":        {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "tmp.bbbb22"), 0},
		"another content":      {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(2, "tmp.cccc33"), 1},
		"no file":              {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1), 1},
		"one too many":         {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "tmp.cccc33", "tmp.dddd44"), 1},
		"a name that fits not": {left(1, "tmp.aaaa11"), left(1, "tmp.bbbb22"), left(1, "log.cccc33"), 2},
		"two each":             {left(1, "tmp.aaaa11", "tmp.bbbb22"), left(1, "tmp.cccc33", "tmp.dddd44"), left(1, "tmp.eeee55", "tmp.ffff66"), 0},
		"one of two":           {left(1, "tmp.aaaa11", "tmp.bbbb22"), left(1, "tmp.cccc33", "tmp.dddd44"), left(1, "tmp.eeee55"), 1},
		"beside a stable one":  {left(1, "tmp.aaaa11", "tmp.cccc33"), left(1, "tmp.bbbb22", "tmp.cccc33"), left(1, "tmp.cccc33", "tmp.dddd44"), 0},
		"now and then":         {left(1, "tmp.aaaa11"), left(1), left(1), 0},
		"a folder each run":    {left(1, "tmp.aaaa11/1.o", "tmp.aaaa11/2.o"), left(1, "tmp.bbbb22/1.o", "tmp.bbbb22/2.o"), left(1, "tmp.cccc33/1.o", "tmp.cccc33/2.o"), 0},
		"names that are words": {left(1, "first.log"), left(1, "later.log"), left(1, "third.log"), 1},
	} {
		if _, err := Merge(c.first, c.second, isKnown); err != nil {
			t.Fatal(err)
		}
		got, err := Compare(c.first, c.now, isKnown)
		if err != nil || len(got.Parts) != c.want || got.Identical() != (c.want == 0) {
			t.Errorf("%s: %+v, %v", name, got.Parts, err)
		}
	}
}

// Contents that every run left under varying names are compared, in any order. Only the others may be
// those of any file.
func TestContentsUnderNamesThatVary(t *testing.T) {
	run := func(mark, contents string) *Outcome {
		o := left(0)
		for i, content := range []byte(contents) {
			name := fmt.Sprintf("tmp.%s%d", mark, i)
			o.Parts = append(o.Parts, Part{Key: Key{File, name}, Size: 1, Digest: Digest{content}})
		}
		return o
	}
	for _, c := range []struct {
		first, second, now string
		want               int // differing parts
	}{
		{"AB", "AB", "AB", 0},
		{"AB", "AB", "BA", 0},
		{"AB", "BA", "AX", 1},
		{"AB", "BA", "XB", 1},
		{"AB", "AB", "AA", 1},
		{"AB", "AB", "A", 1},
		{"AB", "AB", "ABA", 1},
		{"AB", "AB", "XAB", 1},
		{"AAB", "ABA", "ABA", 0},
		{"AAB", "ABA", "ABB", 1},
		{"AB", "AC", "AC", 0},
		{"AB", "CA", "BA", 0},
		{"AB", "AC", "CC", 1}, // each run left A
		{"AB", "CD", "BB", 0}, // no content is known to be there each time
	} {
		o := run("aaaaaa", c.first)
		if _, err := Merge(o, run("BbbbbB", c.second), isKnown); err != nil {
			t.Fatal(err)
		}
		got, err := Compare(o, run("cCcccC", c.now), isKnown)
		if err != nil || len(got.Parts) != c.want {
			t.Errorf("%s, %s, then %s: %d differences, %v", c.first, c.second, c.now, len(got.Parts), err)
		}
	}
}

// Thousands of contents that differ are no thousand contents for each of the files.
func TestManyContentsThatVary(t *testing.T) {
	o, again := &Outcome{}, &Outcome{}
	for i := range 500 {
		o.Parts = append(o.Parts, Part{Key: Key{File, fmt.Sprintf("tmp.aaaa%03d", i)}, Size: 1, Digest: Digest{1, byte(i), byte(i >> 8)}})
		again.Parts = append(again.Parts, Part{Key: Key{File, fmt.Sprintf("tmp.bbbB%03d", i)}, Size: 1, Digest: Digest{2, byte(i), byte(i >> 8)}})
	}
	if _, err := Merge(o, again, nil); err != nil {
		t.Fatal(err)
	}
	folded := Folded(o)
	for _, p := range folded.Parts {
		if n := len(p.Variants); n != sampleMax {
			t.Fatalf("%d contents", n)
		}
	}
	if len(folded.Parts) != 500 {
		t.Errorf("%d files", len(folded.Parts))
	}
}

// A tool may leave many thousands of temporary files. Comparing each name with each other one would
// take longer than a test may.
func TestManyNamesThatVary(t *testing.T) {
	const many = 10_000
	for name, format := range map[string]string{
		"one family": "tmp.%[2]s%05[1]dAb", "a family each": "%05[1]d/tmp.%[2]s", "no family": "%[2]s/%[2]s.%05[1]d",
	} {
		run := func(mark string) *Outcome {
			names := make([]string, many)
			for i := range names {
				names[i] = fmt.Sprintf(format, i, mark)
			}
			return left(1, names...)
		}
		old, now := run("aaaa11"), run("bbbb22")
		if _, err := Merge(old, run("cccc33"), nil); err != nil {
			t.Fatal(err)
		}
		c, err := Compare(old, now, nil)
		if wantIdentical := name != "no family"; err != nil || c.Identical() != wantIdentical {
			t.Errorf("%s: %d differences, %v", name, len(c.Parts), err)
		}
		now.KeepFlaky(old)
		now.IgnoreOf(old, func(k Key) bool { return k.Place == File })
		if old.VariesBeyond(old) {
			t.Errorf("%s: it varies beyond itself", name)
		}
	}
}
