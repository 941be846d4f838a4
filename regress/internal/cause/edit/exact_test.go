package edit

import (
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
		x := newText([]byte(old), []byte(now), NewWords(), &Comparer{})
		if x.compare(); !x.isExact() {
			for _, p := range x.places {
				t.Logf("%v %v %q", p.Old, p.Now, x.words.List[p.Pattern])
			}
			t.Fatalf("%q → %q", old, now)
		}
	})
}
