package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/plaintext"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestUnified(t *testing.T) {
	long := strings.Repeat("x", 150)
	for _, c := range []struct {
		name, old, now string
		limits         Limits
		want           string
		hidden         int
	}{
		{name: "equal", old: "a\n", now: "a\n"},
		{name: "empty to something", old: "", now: "a\n", want: "@@ -0,0 +1 @@\n+a\n"},
		{name: "something to empty", old: "a\nb\n", now: "", want: "@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{name: "one line in many", old: numbered(0, 100), now: strings.Replace(numbered(0, 100), "line 50\n", "LINE\n", 1),
			want: "@@ -48,7 +48,7 @@\n line 47\n line 48\n line 49\n-line 50\n+LINE\n line 51\n line 52\n line 53\n"},
		{name: "no final newline any more", old: "a\nb\n", now: "a\nb",
			want: "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		{name: "no final newline on either side", old: "a\nb", now: "c\nb",
			want: "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"},
		{name: "no newline at all", old: "a", now: "b",
			want: "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"},
		{name: "line endings", old: "a\r\nb\r\nc\r\n", now: "a\r\nb\nc\r\n",
			want: "@@ -1,3 +1,3 @@\n a\n-b‹CR›\n+b\n c\n"},
		{name: "white space alone", old: "\tif x {\n", now: "    if x {\n",
			want: "@@ -1 +1 @@\n-→\tif·x·{\n+····if·x·{\n"},
		{name: "white space at the end", old: "a b\n", now: "a c \t\n",
			want: "@@ -1 +1 @@\n-a b\n+a c·→\t\n"},
		{name: "control characters and Latin-1", old: "caf\xe9\n", now: "\x1b[31mcafé\n",
			want: "@@ -1 +1 @@\n-caf‹E9›\n+‹ESC›[31mcafé\n"},
		{name: "two hunks", old: "a\n" + numbered(0, 8) + "b\n", now: "A\n" + numbered(0, 8) + "B\n",
			want: "@@ -1,4 +1,4 @@\n-a\n+A\n line 0\n line 1\n line 2\n@@ -7,4 +7,4 @@\n line 5\n line 6\n line 7\n-b\n+B\n"},
		{name: "hunks that meet", old: "a\n" + numbered(0, 6) + "b\n", now: "A\n" + numbered(0, 6) + "B\n",
			want: "@@ -1,8 +1,8 @@\n-a\n+A\n line 0\n line 1\n line 2\n line 3\n line 4\n line 5\n-b\n+B\n"},
		{name: "too many lines on both sides", old: numbered(0, 20), now: numbered(100, 120), limits: Limits{Lines: 7},
			want: "@@ -1,20 +1,20 @@\n-line 0\n-line 1\n-line 2\n… 17 more lines taken out\n+line 100\n+line 101\n+line 102\n… 17 more lines put in\n", hidden: 34},
		{name: "too many lines put in", old: "a\nb\n", now: "a\n" + numbered(0, 20) + "b\n", limits: Limits{Lines: 4},
			want: "@@ -1,2 +1,22 @@\n a\n+line 0\n+line 1\n… 18 more lines put in\n", hidden: 19},
		{name: "a hunk that has no room is not begun", old: "a\n" + numbered(0, 8) + "b\n", now: "A\n" + numbered(0, 8) + "B\n", limits: Limits{Lines: 9},
			want: "@@ -1,4 +1,4 @@\n-a\n+A\n line 0\n line 1\n line 2\n", hidden: 6},
		{name: "a long line that differs at its end", old: long + "a" + long + "\n", now: long + "b" + long + "\n", limits: Limits{Columns: 60},
			want: "@@ -1 +1 @@\n-+110 bytes … " + strings.Repeat("x", 40) + "a" + strings.Repeat("x", 19) + " … +131 bytes\n" +
				"++110 bytes … " + strings.Repeat("x", 40) + "b" + strings.Repeat("x", 19) + " … +131 bytes\n"},
		{name: "wide characters count double", old: "", now: strings.Repeat("語", 10) + "\n", limits: Limits{Columns: 8},
			want: "@@ -0,0 +1 @@\n+語語語語 … +18 bytes\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, hidden, binary := Unified([]byte(c.old), []byte(c.now), c.limits)
			if got != c.want || hidden != c.hidden || binary {
				t.Errorf("got %d hidden, binary %t:\n%s\nwant %d hidden:\n%s", hidden, binary, got, c.hidden, c.want)
			}
		})
	}
}

func TestUnifiedBinary(t *testing.T) {
	for _, c := range []struct {
		content string
		want    bool
	}{
		{"text\n", false}, {"", false}, {"\x1b[31mcolour\x1b[0m\n", false}, {"caf\xe9 au lait", false},
		{"a\x00b", true}, {"\x89PNG\x01\x02\x03\x04\x05", true}, {strings.Repeat("\xff\xfe\xfd", 10), false}, {strings.Repeat("\xff\xfe\x02", 10), true},
	} {
		if _, _, got := Unified([]byte("text"), []byte(c.content), Limits{}); got != c.want {
			t.Errorf("Unified of %q: binary %t", c.content, got)
		}
	}
}

// lines draws texts that share many lines, some of them more than once.
func drawText(t *rapid.T, label string) string {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "  a", "unique one", "unique two", "x\r", "\x1b", "\xff"}), 0, 60).Draw(t, label)
	text := strings.Join(words, "\n")
	if rapid.Bool().Draw(t, label+" ends") {
		text += "\n"
	}
	return text
}

func TestChangesRebuildTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, now := drawText(t, "old"), drawText(t, "now")
		if got := rebuild(plaintext.SplitLines([]byte(old)), plaintext.SplitLines([]byte(now))); got != now {
			t.Fatalf("%q → %q rebuilds %q", old, now, got)
		}
	})
}

func TestChangesOfLongTextsRebuildThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		oneIn := rapid.IntRange(1, 40).Draw(t, "one change in")
		var old, now []string
		for i := range 1500 {
			line := fmt.Sprintf("line %d\n", i)
			if random.IntN(4) == 0 {
				line = "}\n"
			}
			old = append(old, line)
			switch random.IntN(3 * oneIn) {
			case 0:
			case 1:
				now = append(now, line, "put in\n")
			case 2:
				now = append(now, fmt.Sprintf("changed %d\n", random.IntN(50)))
			default:
				now = append(now, line)
			}
		}
		if got := rebuild(old, now); got != strings.Join(now, "") {
			t.Fatal("the changes do not rebuild the text")
		}
	})
}

// rebuild applies the changes from old to now to old.
func rebuild(old, now []string) string {
	var b strings.Builder
	at := 0
	for _, c := range compare(old, now) {
		b.WriteString(strings.Join(old[at:c.OldFrom], ""))
		b.WriteString(strings.Join(now[c.NowFrom:c.NowTo], ""))
		at = c.OldTo
	}
	return b.String() + strings.Join(old[at:], "")
}

// What is shown and what is said to be hidden make up the whole diff.
func TestNothingIsCutSilently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, now := drawText(t, "old"), drawText(t, "now")
		limits := Limits{Lines: rapid.IntRange(1, 40).Draw(t, "lines"), Columns: rapid.IntRange(10, 30).Draw(t, "columns"), Context: rapid.IntRange(1, 5).Draw(t, "context")}
		part, hidden, binary := Unified([]byte(old), []byte(now), limits)
		limits.Lines = 1 << 30
		whole, none, _ := Unified([]byte(old), []byte(now), limits)
		if binary {
			return
		}
		checkHarmless(t, whole)
		if none != 0 || Rows(whole) != Rows(part)+hidden {
			t.Fatalf("%d rows shown, %d hidden, %d in all\n%s---\n%s", Rows(part), hidden, Rows(whole), part, whole)
		}
		if (whole == "") != (old == now) {
			t.Fatalf("%q → %q: diff %q", old, now, whole)
		}
		if max := limits.Lines + 2; Rows(part) > max {
			t.Fatalf("%d rows, more than %d", Rows(part), max)
		}
	})
}

// One habit of a code generator that changes shows in hundreds of places of
// one file; what is between them must still be found equal.
func TestManyChangesStayApart(t *testing.T) {
	var old, now []string
	for i := range 5000 {
		old = append(old, fmt.Sprintf("statement %d;\n", i), "}\n")
		now = append(now, old[len(old)-2:]...)
		if i%7 == 0 {
			now[len(now)-2] = fmt.Sprintf("statement (%d);\n", i)
		}
	}
	if got := len(compare(old, now)); got != 5000/7+1 {
		t.Errorf("%d changes, want %d", got, 5000/7+1)
	}
}

func TestFullText(t *testing.T) {
	var b bytes.Buffer
	if err := Full(&b, []byte("a\n"+strings.Repeat("x", 400)+"\n"), []byte("a\nb\x1b\n"), false); err != nil {
		t.Fatal(err)
	}
	if want := "@@ -1,2 +1,2 @@\n a\n-" + strings.Repeat("x", 400) + "\n+b‹ESC›\n"; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Full(&b, []byte("a\n"), []byte("b\n"), true); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n"; b.String() != want {
		t.Errorf("coloured: %q", b.String())
	}
}
