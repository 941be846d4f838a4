package review

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/cause"
)

// shown writes lines as a test reads them.
func shown(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%-7s %2d %2d |%s", l.Kind, l.Old, l.Now, spansText(l.Left))
		if l.Right != nil {
			fmt.Fprintf(&b, " | %s", spansText(l.Right))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func spansText(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		switch s.Mark {
		case Plain:
			b.WriteString(s.Text)
		case GoneMark:
			b.WriteString("[-" + s.Text + "-]")
		case ComeMark:
			b.WriteString("{+" + s.Text + "+}")
		default:
			b.WriteString("<" + s.Text + ">")
		}
	}
	return b.String()
}

func TestRender(t *testing.T) {
	old := "one\ntwo\nthree = 3ll;\nfour\nfive\nsix\nseven\neight\nnine\nten = 10;\neleven\n"
	p := Part{Old: []byte(old), Now: []byte(strings.NewReplacer("3ll", "3LL", "four\n", "", "10", "x10").Replace(old))}
	at := func(text []byte, what string) int { return bytes.Index(text, []byte(what)) }
	span := func(from, n int) cause.Span { return cause.Span{From: from, To: from + n} }
	p.Edits = []cause.Attributed{
		{LiteralEdit: cause.LiteralEdit{Old: span(at(p.Old, "ll;"), 2), Now: span(at(p.Now, "LL;"), 2)}, Cause: 0},
		{LiteralEdit: cause.LiteralEdit{Old: span(at(p.Old, "four"), 5), Now: span(at(p.Now, "five"), 0)}, Cause: 1},
		{LiteralEdit: cause.LiteralEdit{Old: span(at(p.Old, "10"), 0), Now: span(at(p.Now, "x10"), 1)}, Cause: 1},
	}
	for _, c := range []struct {
		title string
		l     Layout
		want  string
	}{
		{"all", Layout{Focus: All, Context: 1}, `
heading  2  2 |@@ line 2 @@
same     2  2 |two
gone     3  0 |three = 3[-ll-];
come     0  3 |three = 3{+LL+};
gone     4  0 |[-four-]
same     5  4 |five
heading  9  8 |@@ line 8 @@
same     9  8 |nine
gone    10  0 |ten = 10;
come     0  9 |ten = {+x+}10;
same    11 10 |eleven
`},
		{"one cause", Layout{Focus: 0, Context: 1}, `
heading  2  2 |@@ line 2 @@
same     2  2 |two
gone     3  0 |three = 3[-ll-];
come     0  3 |three = 3{+LL+};
remark   0  0 |… 2 edits of other causes
`},
		{"one cause and the others", Layout{Focus: 0, Context: 1, Others: true}, `
heading  2  2 |@@ line 2 @@
same     2  2 |two
gone     3  0 |three = 3[-ll-];
come     0  3 |three = 3{+LL+};
gone     4  0 |<four>
same     5  4 |five
heading  9  8 |@@ line 8 @@
same     9  8 |nine
gone    10  0 |ten = 10;
come     0  9 |ten = <x>10;
same    11 10 |eleven
`},
		{"side by side", Layout{Focus: 1, Context: 1, Mode: Sides}, `
remark   0  0 |… 1 edit of other causes
gone     4  0 |[-four-]
same     5  4 |five | five
heading  9  8 |@@ line 8 @@
same     9  8 |nine | nine
changed 10  9 |ten = 10; | ten = {+x+}10;
same    11 10 |eleven | eleven
`},
		{"no room", Layout{Focus: All, Lines: 3, Context: 1}, `
heading  2  2 |@@ line 2 @@
same     2  2 |two
gone     3  0 |three = 3[-ll-];
remark   0  0 |… 1 more line put in
remark   0  0 |… 2 more edits not shown
`},
	} {
		if got := "\n" + shown(Render(p, c.l)); got != c.want {
			t.Errorf("%s: got%swant%s", c.title, got, c.want)
		}
	}
}

// A last line without a newline is a line, also where there is no room for it.
func TestRenderCountsALastLineWithoutNewline(t *testing.T) {
	p := Part{Now: []byte("one\ntwo\nthree\nfour")}
	for _, mode := range []Mode{Unified, Sides} {
		lines := Render(p, Layout{Mode: mode, Focus: All, Lines: 4})
		if got := shown(lines); !strings.Contains(got, "… 1 more line put in") {
			t.Errorf("%s: of four lines three are shown, and not that there is one more:\n%s", mode, got)
		}
	}
}

// Whatever the edits, each form shows both texts whole when there is room, and nothing
// that drives a terminal.
func TestRenderShowsBothTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\n;")), 0, 12, -1)
		var p Part
		for range rapid.IntRange(0, 5).Draw(t, "edits") {
			same := text.Draw(t, "same")
			was, is := text.Draw(t, "was"), text.Draw(t, "is")
			p.Old, p.Now = append(p.Old, same...), append(p.Now, same...)
			if was != is {
				p.Edits = append(p.Edits, cause.Attributed{LiteralEdit: cause.LiteralEdit{
					Old: cause.Span{From: len(p.Old), To: len(p.Old) + len(was)},
					Now: cause.Span{From: len(p.Now), To: len(p.Now) + len(is)}}})
			}
			p.Old, p.Now = append(p.Old, was...), append(p.Now, is...)
		}
		if rapid.Bool().Draw(t, "unknown") {
			p.Edits = nil
		}
		for _, m := range Modes() {
			var old, now strings.Builder
			for _, l := range Render(p, Layout{Mode: m, Focus: All, Context: 1 << 20, Lines: 1 << 20, Columns: 1 << 20}) {
				switch {
				case l.Kind == Heading || l.Kind == Remark:
				default:
					if l.Kind != Come {
						old.WriteString(plainText(l.Left))
					}
					if l.Kind != Gone && m == Sides {
						now.WriteString(plainText(l.Right))
					} else if l.Kind != Gone {
						now.WriteString(plainText(l.Left))
					}
				}
			}
			squeeze := strings.NewReplacer("\n", "", "⏎", "", "·", " ")
			if bytes.Equal(p.Old, p.Now) {
				continue
			}
			if got, want := squeeze.Replace(old.String()), squeeze.Replace(string(p.Old)); got != want {
				t.Fatalf("%s: the old text is %q, shown %q", m, p.Old, old.String())
			}
			if got, want := squeeze.Replace(now.String()), squeeze.Replace(string(p.Now)); got != want {
				t.Fatalf("%s: the new text is %q, shown %q", m, p.Now, now.String())
			}
		}
	})
}

func plainText(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// A part of any size gives no more lines than there is room for, and says what is left
// out; so does one of a single line.
func TestRenderIsBounded(t *testing.T) {
	size := 8 << 20
	if testing.Short() {
		size = 2 << 20
	}
	old := bytes.Repeat([]byte("int x = 1ll;\n"), size/13)
	now := bytes.ReplaceAll(old, []byte("ll"), []byte("LL"))
	p := Part{Old: old, Now: now}
	for at := 9; at < len(old); at += 13 {
		span := cause.Span{From: at, To: at + 2}
		p.Edits = append(p.Edits, cause.Attributed{LiteralEdit: cause.LiteralEdit{Old: span, Now: span}})
	}
	oneLine := Part{Old: bytes.ReplaceAll(old, newline, []byte(" ")), Now: bytes.ReplaceAll(now, newline, []byte(" ")), Edits: p.Edits}
	unknown := Part{Old: old, Now: now}
	for name, p := range map[string]Part{"many": p, "one line": oneLine, "unknown": unknown} {
		for _, m := range Modes() {
			lines := Render(p, Layout{Mode: m, Focus: 0})
			bytes := 0
			for _, l := range lines {
				for _, s := range append(l.Left, l.Right...) {
					bytes += len(s.Text)
				}
			}
			if len(lines) == 0 || len(lines) > 410 || bytes > 1<<20 {
				t.Errorf("%s, %s: %d lines of %d bytes", name, m, len(lines), bytes)
			}
			if text := plainText(lines[len(lines)-1].Left); name == "many" && !strings.HasPrefix(text, "… ") {
				t.Errorf("%s: the last line is %q", m, text)
			}
		}
	}
}

// Two edits that touch: what follows the first is not equal on both sides.
func TestRenderTouchingEdits(t *testing.T) {
	edit := func(from, to int) cause.Attributed {
		return cause.Attributed{LiteralEdit: cause.LiteralEdit{Old: cause.Span{From: from, To: to}}}
	}
	p := Part{Old: []byte("a\na"), Now: []byte("a"), Edits: []cause.Attributed{edit(0, 1), edit(1, 2)}}
	const want = `
heading  1  1 |@@ line 1 @@
gone     1  0 |[-a-][-⏎-]
same     2  1 |a
`
	if got := "\n" + shown(Render(p, Layout{Focus: All})); got != want {
		t.Errorf("got%swant%s", got, want)
	}
}
