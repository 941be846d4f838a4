package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Edits cover all that differs, and do not overlap: only contents with equal keys need the whole text
// as one edit.
func TestPlacesAreExact(t *testing.T) {
	pieces := []string{
		"foo", "bar", "(", ")", "{", "}", ";", ",", " ", "  ", "\t", "\n", "\n\n", "\r\n", "=", "->", "1", "23", `"a b"`, "'", "// c", "a.b",
		"\xff\xfe", "é", "\ufeff", "’", "&lt;", "</a>", "<br />", "<b>", "t1 ", "t12 ",
	}
	draw := func(t *rapid.T, label string, most int) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most).Draw(t, label), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		old := draw(t, "old", 40)
		now := old
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			from := rapid.IntRange(0, len(now)).Draw(t, "from")
			to := min(len(now), from+rapid.IntRange(0, 8).Draw(t, "length"))
			now = now[:from] + draw(t, "new", 3) + now[to:]
		}
		checkExact(t, old, now)
	})
}

// The same of JSON.
func TestPlacesOfDocumentsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document := func(label string) string {
			object := rapid.Custom(func(t *rapid.T) string {
				text := rapid.SampledFrom([]string{"it's (here)", "it’s (here)", "a b c d e f", "a b x d e f", "", `\n \"q\"`, "é"}).Draw(t, "text")
				gap := rapid.SampledFrom([]string{"", " ", "\n  "}).Draw(t, "gap")
				return fmt.Sprintf(`{%s"a": %d,%s"text": "%s"}`, gap, rapid.IntRange(0, 3).Draw(t, "a"), gap, text)
			})
			list := rapid.SliceOfN(object, 1, 5).Draw(t, label)
			return rapid.SampledFrom([]string{"[" + strings.Join(list, ",\n") + "]\n", strings.Join(list, "\n")}).Draw(t, "form")
		}
		checkExact(t, document("old"), document("now"))
	})
}

// And of diagnostics, among other lines.
func TestPlacesOfMessagesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := func(label string) string {
			line := rapid.Custom(func(t *rapid.T) string {
				other := rapid.SampledFrom([]string{"Found 1 error.", "Found 2 errors.", "", "  a b", "All is well."}).Draw(t, "other")
				if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
					return other
				}
				what := rapid.SampledFrom([]string{"bad x here", "bad y here", "never do that", "E1 'q'"}).Draw(t, "what")
				return fmt.Sprintf("%s:%d:%d: %s", rapid.SampledFrom([]string{"a.c", "-"}).Draw(t, "file"), rapid.IntRange(1, 4).Draw(t, "line"), rapid.IntRange(1, 3).Draw(t, "column"), what)
			})
			return strings.Join(rapid.SliceOfN(line, 0, 8).Draw(t, label), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
		}
		checkExact(t, lines("old"), lines("now"))
	})
}

// Each edit of lines that came or went can be accepted without the others: what results has whole lines.
func TestLinesAreWhole(t *testing.T) {
	for _, c := range []struct{ old, now string }{
		{"a.c:1:1: same\nx.c:1:1: one bad thing\nz.c:9:9: end\n", "a.c:1:1: same\ny.c:2:2: another bad thing\nz.c:9:9: end\n"},
		{"a.c:1:1: same\nz.c:9:9: end\n", "a.c:1:1: same\nx.c:1:1: one\ny.c:2:2: two\nz.c:9:9: end\n"},
		{"a.c:1:1: same\nb.c:1:2: one\nFound 1 error.\n", "a.c:1:1: same\n"},
		{"a.c:1:1: same\nb.c:1:2: one\nNot one line\n", "a.c:1:1: same\nc.c:3:4: two\nd.c:4:5: three\nSo many lines\n"},
	} {
		x := newText([]byte(c.old), []byte(c.now), NewWords(), &Comparer{})
		if x.compare(); len(x.places) < 2 {
			t.Errorf("%q → %q has %d edits", c.old, c.now, len(x.places))
		}
		known := strings.Split(c.old+c.now, "\n")
		for _, p := range x.places {
			one := c.old[:p.Old.From] + c.now[p.Now.From:p.Now.To] + c.old[p.Old.To:]
			for line := range strings.SplitSeq(one, "\n") {
				if !slices.Contains(known, line) {
					t.Errorf("%q → %q: with %q alone, %q is a line", c.old, c.now, x.words.List[p.Pattern], line)
				}
			}
		}
	}
}

func checkExact(t *rapid.T, old, now string) {
	x := newText([]byte(old), []byte(now), NewWords(), &Comparer{})
	if x.compare(); !x.isExact() {
		for _, p := range x.places {
			t.Logf("%v %v %q", p.Old, p.Now, x.words.List[p.Pattern])
		}
		t.Fatalf("%q → %q", old, now)
	}
}
