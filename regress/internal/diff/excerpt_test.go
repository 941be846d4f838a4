package diff

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		name, old, now string
		edits          []Edit
		want           string
	}{
		{
			"a word within a line", "a\nb\nlong x = 1ll;\nc\nd\ne\n", "a\nb\nlong x = 1LL;\nc\nd\ne\n",
			[]Edit{{Change{14, 16, 14, 16}, ""}}, "@@ -1,5 +1,5 @@\n a\n b\n-long x = 1ll;\n+long x = 1LL;\n c\n d\n",
		},
		{"whole lines put in", "a\nb\n", "a\nx\nb\n", []Edit{{Change{2, 2, 2, 4}, ""}}, "@@ -1,2 +1,3 @@\n a\n+x\n b\n"},
		{
			"the end of a text", "a", "ab", []Edit{{Change{1, 1, 1, 2}, ""}},
			"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+ab\n\\ No newline at end of file\n",
		},
		{
			"a line of another cause in view", "a\nb\nc\nd\n", "A\nb\nC\nd\n", []Edit{{Change{0, 1, 0, 1}, ""}, {Change{4, 5, 4, 5}, "G2"}},
			"@@ -1,4 +1,4 @@\n-a\n+A\n b\n<c\n>C\n d\n… < and > mark lines of G2\n",
		},
		{
			"a word of another cause in the same line", "a b\n", "A B\n", []Edit{{Change{0, 1, 0, 1}, ""}, {Change{2, 3, 2, 3}, "G2"}},
			"@@ -1 +1 @@\n-a b\n+A B\n… words of these lines differ by G2, too\n",
		},
		{
			"equal lines within an edit", "x\n1\n2\ny\n", "X\n1\n2\nY\n", []Edit{{Change{0, 8, 0, 8}, ""}},
			"@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n-y\n+Y\n",
		},
		{
			"a word that another cause puts in at the beginning of a line", "a\nb\n", "A\nXb\n",
			[]Edit{{Change{0, 1, 0, 1}, ""}, {Change{2, 2, 2, 3}, "G2"}},
			"@@ -1,2 +1,2 @@\n-a\n<b\n+A\n>Xb\n… < and > mark lines of G2\n",
		},
		{
			"a word that another cause takes out at the beginning of a line", "a\nXb\n", "A\nb\n",
			[]Edit{{Change{0, 1, 0, 1}, ""}, {Change{2, 3, 2, 2}, "G2"}},
			"@@ -1,2 +1,2 @@\n-a\n<Xb\n+A\n>b\n… < and > mark lines of G2\n",
		},
		{
			"a line end that another cause puts in", "a\nb", "A\nb\n", []Edit{{Change{0, 1, 0, 1}, ""}, {Change{3, 3, 3, 4}, "G2"}},
			"@@ -1,2 +1,2 @@\n-a\n<b\n\\ No newline at end of file\n+A\n>b\n… < and > mark lines of G2\n",
		},
		{"beyond the text", "a", "b", []Edit{{Change{0, 9, 0, 1}, ""}}, ""},
		{"no text", "a\x00", "b\x00", []Edit{{Change{0, 1, 0, 1}, ""}}, ""},
	} {
		if got := Excerpt([]byte(c.old), []byte(c.now), c.edits, 0); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Each line of a hunk is one of the texts, at the place that the heading names: nothing
// is left out between them, and only what differs has a sign.
func TestExcerptIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, now, edits := drawEdits(t)
		at := rapid.IntRange(0, len(edits)-1).Draw(t, "at")
		text := Excerpt([]byte(old), []byte(now), edits, at)
		if isShown := strings.Contains(text, "\n-") || strings.Contains(text, "\n+"); !isShown && edits[at].By == "" {
			t.Fatalf("edit %d of %v is not shown:\n%s", at, edits, text)
		}
		var from, to [2]int
		for line := range strings.Lines(text) {
			switch line[0] {
			case '@':
				n, err := fmt.Sscanf(strings.ReplaceAll(line, ",", " "), "@@ -%d", &from[0])
				if n != 1 || err != nil {
					t.Fatalf("heading %q", line)
				}
				_, rest, _ := strings.Cut(line, "+")
				_, _ = fmt.Sscanf(rest, "%d", &from[1])
				to = [2]int{max(0, from[0]-1), max(0, from[1]-1)}
				if strings.Contains(line, "-"+fmt.Sprint(from[0])+",0 ") {
					to[0] = from[0]
				}
				if strings.Contains(line, "+"+fmt.Sprint(from[1])+",0 ") {
					to[1] = from[1]
				}
			case ' ':
				want(t, text, old, to[0], line[1:])
				want(t, text, now, to[1], line[1:])
				to[0], to[1] = to[0]+1, to[1]+1
			case '-', '<':
				want(t, text, old, to[0], line[1:])
				to[0]++
			case '+', '>':
				want(t, text, now, to[1], line[1:])
				to[1]++
			case '\xe2': // a remark: what it counts is not here
				return
			}
		}
	})
}

func want(t *rapid.T, excerpt, text string, line int, is string) {
	lines := strings.SplitAfter(text, "\n")
	if line >= len(lines) || strings.TrimSuffix(lines[line], "\n") != strings.TrimSuffix(is, "\n") {
		t.Fatalf("line %d is not %q:\n%s\nof\n%s", line, is, excerpt, text)
	}
}

// drawEdits draws two texts and the edits between them.
func drawEdits(t *rapid.T) (old, now string, edits []Edit) {
	equal := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\n", "c\n", "d\n"}), 0, 8)
	for range rapid.IntRange(1, 6).Draw(t, "edits") {
		same := strings.Join(equal.Draw(t, "equal"), "")
		was, is := strings.Join(equal.Draw(t, "old"), "")+"x", strings.Join(equal.Draw(t, "now"), "")+"y"
		old, now = old+same, now+same
		edits = append(edits, Edit{Change{len(old), len(old) + len(was), len(now), len(now) + len(is)}, rapid.SampledFrom([]string{"", "G2"}).Draw(t, "by")})
		old, now = old+was, now+is
	}
	same := strings.Join(equal.Draw(t, "equal"), "")
	return old + same, now + same, edits
}

// The edits that are looked at are bounded, and the lines beside them are whole.
func TestExcerptOfManyEdits(t *testing.T) {
	const count = 2000
	var old, now strings.Builder
	edits := make([]Edit, count)
	for i := range edits {
		edits[i] = Edit{Change{old.Len(), old.Len() + 1, now.Len(), now.Len() + 5}, "G2"}
		fmt.Fprintf(&old, "q %d\n", i)
		fmt.Fprintf(&now, "ppppp %d\n", i)
	}
	edits[1000].By = ""
	text := Excerpt([]byte(old.String()), []byte(now.String()), edits, 1000)
	for _, line := range []string{"-q 1000\n", "+ppppp 1000\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	for line := range strings.Lines(text) {
		if strings.ContainsRune("+>", rune(line[0])) && !strings.HasPrefix(line[1:], "ppppp ") {
			t.Errorf("line %q is a part of a line in\n%s", line, text)
		}
	}
}
