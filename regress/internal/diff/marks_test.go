package diff

import (
	"muster/regress/internal/palette"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var codes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// visible writes marks as brackets and drops colours.
func visible(text string) string {
	return codes.ReplaceAllString(strings.NewReplacer(palette.Mark.Start(), "[", palette.Unmark.Start(), "]").Replace(text), "")
}

func TestMarks(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		old, now string
		edits    []Change
		want     string
	}{
		"two words":    {"a\nb one c two\n", "a\nb 1 c 2\n", []Change{{4, 7, 4, 5}, {10, 13, 8, 9}}, "@@ -1,2 +1,2 @@\n a\n-b [one] c [two]\n+b [1] c [2]\n"},
		"inserted":     {"f(a)\n", "f(a, b)\n", []Change{{3, 3, 3, 6}}, "@@ -1 +1 @@\n-f(a)\n+f(a[, b])\n"},
		"whole lines":  {"a\nb\n", "a\nc\nd\n", []Change{{2, 3, 2, 5}}, "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"},
		"several rows": {"a (b\nc) d\n", "a d\n", []Change{{2, 8, 2, 2}}, "@@ -1,2 +1 @@\n-a [(b]\n-[c) ]d\n+a d\n"},
		"control":      {"a \x1b b\n", "a c b\n", []Change{{2, 3, 2, 3}}, "@@ -1 +1 @@\n-a [‹ESC›] b\n+a [c] b\n"},
		"far apart":    {"a 1\n2\n3\n4\n5\n6\n7\n8\n9 b\n", "a 0\n2\n3\n4\n5\n6\n7\n8\n9 c\n", []Change{{2, 3, 2, 3}, {20, 21, 20, 21}}, "@@ -1,4 +1,4 @@\n-a [1]\n+a [0]\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9 [b]\n+9 [c]\n"},
		"none":         {"a b\n", "a c\n", nil, "@@ -1 +1 @@\n-a b\n+a c\n"},
		"long":         {long + "a\n", long + "b\n", []Change{{300, 301, 300, 301}}, "@@ -1 +1 @@\n-" + long + "[a]\n+" + long + "[b]\n"},
	} {
		var b strings.Builder
		if err := FullMarked(&b, []byte(c.old), []byte(c.now), c.edits); err != nil {
			t.Fatal(err)
		}
		if got := visible(b.String()); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// An excerpt marks its own edits. The lines of others are dim.
func TestExcerptMarks(t *testing.T) {
	edits := []Edit{{Change{0, 1, 0, 1}, "G2"}, {Change{4, 5, 4, 5}, ""}, {Change{6, 7, 6, 7}, "G3"}}
	text := ExcerptMarked([]byte("a b\nc d\n"), []byte("x b\ny z\n"), edits, 1)
	want := "@@ -1,2 +1,2 @@\n<a b\n-[c] d\n>x b\n+[y] z\n… < and > mark lines of G2\n… words of these lines differ by G3, too\n"
	if got := visible(text); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if !strings.Contains(text, "\x1b[2m<a b\x1b[0m\n") {
		t.Errorf("%q is not in colour", text)
	}
}

// Whatever the edits are, the text without its codes is that without colour.
func TestMarksChangeNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.StringOf(rapid.SampledFrom([]rune("ab \t\né\x1b")))
		old, now := side.Draw(t, "old"), side.Draw(t, "now")
		a, b := rapid.IntRange(0, len(old)), rapid.IntRange(0, len(now))
		from, nowFrom := a.Draw(t, "from"), b.Draw(t, "now from")
		edits := []Change{{from, rapid.IntRange(from, len(old)).Draw(t, "to"), nowFrom, rapid.IntRange(nowFrom, len(now)).Draw(t, "now to")}}
		var marked, plain strings.Builder
		if err := FullMarked(&marked, []byte(old), []byte(now), edits); err != nil {
			t.Fatal(err)
		}
		if err := Full(&plain, []byte(old), []byte(now), false); err != nil {
			t.Fatal(err)
		}
		if got := codes.ReplaceAllString(marked.String(), ""); got != plain.String() {
			t.Fatalf("%q, want %q", got, plain.String())
		}
	})
}
