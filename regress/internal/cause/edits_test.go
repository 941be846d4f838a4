package cause_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/cause"
	"muster/regress/internal/outcome"
)

var stdout = outcome.Key{Place: outcome.Stdout}

// changedCase returns a case whose standard output changed from old to now.
func changedCase(name, old, now string) cause.Case {
	return cause.Case{Name: name, Size: int64(len(old)), Parts: []cause.Part{newPart(old, now)}}
}

func newPart(old, now string) cause.Part {
	return cause.Part{Key: stdout, Old: &outcome.Part{Key: stdout}, Now: &outcome.Part{Key: stdout}, OldText: []byte(old), NowText: []byte(now)}
}

func analyseCases(cases ...cause.Case) *cause.Found {
	a := cause.New()
	for _, c := range cases {
		a.Add(c)
	}
	return a.Causes()
}

func literal(p cause.PartEdits) (edits []cause.LiteralEdit) {
	for _, e := range p.Edits {
		edits = append(edits, e.LiteralEdit)
	}
	return edits
}

// replay returns old with the edits applied.
func replay(old, now []byte, edits []cause.LiteralEdit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, old[at:e.Old.From]...)
		out = append(out, now[e.Now.From:e.Now.To]...)
		at = e.Old.To
	}
	return append(out, old[at:]...)
}

// checkReplay fails unless the edits of every part turn the old content into the new one, and every
// case has its causes.
func checkReplay(t interface{ Fatalf(string, ...any) }, f *cause.Found, cases []cause.Case) {
	for _, c := range cases {
		m, known := f.Member(c.Name)
		if !known || len(m.Causes) == 0 {
			t.Fatalf("%s has no cause", c.Name)
		}
		for i, p := range m.Parts {
			edits := literal(p)
			if kind := f.Causes[m.Causes[0]].Kind; len(edits) == 0 && (kind == cause.Binary || kind == cause.File) {
				continue
			}
			for j, e := range edits {
				if e.Old.From > e.Old.To || e.Now.From > e.Now.To || j > 0 && (edits[j-1].Old.To > e.Old.From || edits[j-1].Now.To > e.Now.From) {
					t.Fatalf("%s: edits out of order: %v", c.Name, edits)
				}
			}
			if got := replay(c.Parts[i].OldText, c.Parts[i].NowText, edits); !bytes.Equal(got, c.Parts[i].NowText) {
				t.Fatalf("%s: replayed\n%q\nwant\n%q\nof\n%q\nby %v", c.Name, got, c.Parts[i].NowText, c.Parts[i].OldText, edits)
			}
		}
		shown := cause.NewIndex(f.Causes).Shows(c)
		for _, n := range m.Causes {
			if !contains(shown, n) {
				t.Fatalf("%s shows %s (%s) in an analysis and not alone; %v", c.Name, f.Causes[n].ID, f.Causes[n].Name, f.Causes[n].Patterns)
			}
		}
	}
}

func contains(list []int, n int) bool {
	for _, v := range list {
		if v == n {
			return true
		}
	}
	return false
}

// drawText draws text like code, and other text.
func drawText(t *rapid.T, label string) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"foo", "bar", "int", "(", ")", "{", "}", ";", ",", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\n  ", "=", "==", "1", "23", "0x1f", "\"a b\"", "'", "// c", "a.b", "x1", "foo(x);\n", "\xff\xfe", "é", "&# $x;", "&amp lt;", "&quot;", "’", "“v1”", "€10", "</a>", "<br />", "a</*c*/b", "t1 ", "t2 ", "t3 ", "t12 "}),
		rapid.StringN(0, 5, -1),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, label), "")
}

// mutate changes a text a little.
func mutate(t *rapid.T, s string) string {
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		to := min(len(s), from+rapid.IntRange(0, 6).Draw(t, "length"))
		s = s[:from] + rapid.SampledFrom([]string{"", " ", "\n", "foo", "(", ")", "bar baz", "7", "\t", "\r", "x(y)", "’", "&lt;", "t2 t3 "}).Draw(t, "new") + s[to:]
	}
	return s
}

func drawCases(t *rapid.T) (cases []cause.Case) {
	for i := range rapid.IntRange(1, 6).Draw(t, "cases") {
		old := drawText(t, "old")
		now := mutate(t, old)
		if rapid.IntRange(0, 3).Draw(t, "other") == 0 {
			now = drawText(t, "now")
		}
		cases = append(cases, changedCase("case"+string(rune('a'+i)), old, now))
	}
	return cases
}

// Whatever the contents are, the edits of a part turn the old content into the new one. A case
// alone shows the same causes as among others.
func TestReplayIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := drawCases(t)
		checkReplay(t, analyseCases(cases...), cases)
	})
}

func FuzzEdits(f *testing.F) {
	for _, s := range []string{"", "a\n", "a b\r\n\tc", "f(x);\n\n\nf(y);\n", "\x00\x01", "\xff\xfe\n"} {
		f.Add([]byte(s), []byte("f(x);\n"))
		f.Add([]byte("f(y)\n"), []byte(s))
	}
	f.Fuzz(func(t *testing.T, old, now []byte) {
		cases := []cause.Case{changedCase("a", string(old), string(now)), changedCase("b", string(now), string(old))}
		checkReplay(t, analyseCases(cases...), cases)
	})
}
