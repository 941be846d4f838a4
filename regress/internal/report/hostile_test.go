package report

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/cause"
)

// hostile is a text of pieces that mean something to a terminal, a browser, or a reader of
// XML or Markdown.
func hostile(r *rand.Rand) string {
	pieces := [...]string{
		"\x1b[31m", "\x1b]0;title\a", "\x9b2J", "\xff\xfe", "\x00", "]]>", "<![CDATA[", "</failure>", "&amp;", "&#0;", "</script><script>alert(1)</script>",
		"</style>", "--><!--", "<img src=x onerror=alert(1)>", `" onclick="alert(1)`, "'", "```", "~~~", "|", "\\|", "`", "</code></details>", "\u202e", "\u2067", "\u200f", "\ufffe",
		"\r\n", "\n", "\n# a heading\n", "\n| a | b |\n", "\t", "[a](javascript:alert(1))", "@@", "{{.}}", "${1}", "a word", "日本", " ",
	}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// hostileRun is a check of n cases whose names and contents are hostile, some of them with
// lines of 1 MB, and of as many causes as a page has and more.
func hostileRun(n int) []Event {
	r := rand.New(rand.NewPCG(1, 2))
	events := []Event{Started{Command: "check", Run: "20250131-142501-3f9a", Tool: hostile(r), Against: hostile(r), Corpus: hostile(r), Cases: n, At: epoch}, Note{Text: hostile(r), Warning: true}}
	var cases []Case
	for i := range n {
		c := Case{Name: fmt.Sprintf("%d%s", i, hostile(r)), Index: i, Verdict: regress.Verdict(i % int(regress.Identical)), Ending: exit(i % 3), GoldenEnding: exit(0), Why: hostile(r)}
		c.Differences = []Difference{
			diffOf(hostile(r), hostile(r)+"\n"+hostile(r), hostile(r)+"\n"+hostile(r)),
			{Part: hostile(r), Old: hostile(r), Now: hostile(r), Diff: "+" + hostile(r)},
		}
		if i%500 == 0 {
			c.Differences = append(c.Differences, diffOf("long", "", strings.Repeat("<&`|\x1b", 1<<20/5)),
				Difference{Part: "longer", Diff: "-" + strings.Repeat("]]>`\x00", 1<<20/5)})
		}
		cases = append(cases, c)
		events = append(events, c)
	}
	for i := range pageCausesMax + 50 {
		members := []string{cases[i%n].Name, cases[(i*7)%n].Name}
		events = append(events, Group{
			Cause:   cause.Cause{ID: fmt.Sprintf("G%d", i+1), Name: hostile(r), Family: hostile(r), Cases: 2, Example: members[0], Smallest: members[1], Folded: []string{hostile(r)}},
			Excerpt: "-" + hostile(r) + "\n+" + hostile(r), Members: members,
		})
	}
	s := summaryOf("check", cases)
	s.Groups = pageCausesMax + 50
	return append(events, Finished{s})
}

// Whatever tools write and files are called, reports stay what they are, and below their
// limits.
func TestReportsOfThousandsOfHostileCases(t *testing.T) {
	cases := 3000
	if testing.Short() {
		cases = 300
	}
	const bytesMax = 20_000_000
	run := hostileRun(cases)
	folder := t.TempDir()

	file := writeJUnit(t, filepath.Join(folder, "j.xml"), run)
	if suite := checkJUnit(t, file); suite.Tests != cases || len(file) > bytesMax {
		t.Errorf("JUnit: %d tests, %d bytes", suite.Tests, len(file))
	}
	harmless := func(text []byte) {
		t.Helper()
		// Names keep what is no byte of a terminal's.
		checkHarmless(t, strings.NewReplacer("\u202e", "", "\u2067", "", "\u200f", "", "\ufffe", "").Replace(string(text)))
	}
	harmless(file)

	page := writeHTML(t, run)
	if len(page) > bytesMax {
		t.Errorf("HTML: %d bytes", len(page))
	}
	harmless(page)
	plain := withCauses(longRun("check", 300, 2), 3)
	plain = slices.Insert(plain, len(plain)-1, Event(Note{Text: "noted", Warning: true}))
	checkTame(t, parsed(t, page), parsed(t, writeHTML(t, plain)))

	text := writeMarkdown(t, run)
	if len(text) > markdownBytesMax {
		t.Errorf("Markdown: %d bytes", len(text))
	}
	harmless([]byte(text))
	checkMarkdown(t, text)
}

// checkMarkdown fails where a text has HTML that is not ours, a fence that does not close,
// or rows of a table of unlike lengths.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	fence, columns, tags := "", 0, map[string]int{}
	for line := range strings.Lines(strings.TrimPrefix(text, MarkdownMark)) {
		line = strings.TrimSuffix(line, "\n")
		if opening := regexp.MustCompile("^(```+)diff$").FindStringSubmatch(line); fence == "" && opening != nil {
			fence = opening[1]
		} else if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		for _, tag := range regexp.MustCompile(`<[^>]*>?`).FindAllString(line, -1) {
			tags[tag]++
		}
		bars := strings.Count(line, "|")
		if bars > 0 && columns > 0 && bars != columns {
			t.Errorf("a row of %d bars among rows of %d: %q", bars, columns, line)
		}
		columns = bars
	}
	if fence != "" {
		t.Errorf("a fence %s does not close", fence)
	}
	for _, name := range []string{"code", "details", "summary"} {
		if tags["<"+name+">"] != tags["</"+name+">"] {
			t.Errorf("%d of <%s>, and %d close", tags["<"+name+">"], name, tags["</"+name+">"])
		}
		delete(tags, "<"+name+">")
		delete(tags, "</"+name+">")
	}
	delete(tags, "<br>")
	if len(tags) > 0 {
		t.Errorf("there is other HTML: %v", tags)
	}
}
