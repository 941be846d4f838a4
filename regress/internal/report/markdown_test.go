package report

import (
	"muster/regress"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func writeMarkdown(t testing.TB, events []Event) string {
	t.Helper()
	return string(writeReport(t, NewMarkdown, filepath.Join(t.TempDir(), "r.md"), events))
}

func TestMarkdown(t *testing.T) {
	checkGolden(t, "summary.md.txt", []byte(writeMarkdown(t, withCauses(checkRun(), 3))))
	// Without causes, as of a run that was interrupted, it shows the first cases.
	checkGolden(t, "cases.md.txt", []byte(writeMarkdown(t, checkRun())))
}

// However much differs, the file stays small, ends as it should, and says that there is more.
func TestMarkdownIsBounded(t *testing.T) {
	for name, run := range map[string][]Event{
		"causes": withCauses(longRun("check", 3000, 2), 500), "cases": longRun("check", 3000, 2),
		"large": {
			Case{Name: strings.Repeat("n", 1<<20), Verdict: regress.Changed, Differences: []Difference{{Part: "stdout", Diff: strings.Repeat("+x\n", 1<<20)}}},
			Finished{summaryOf("check", nil)},
		},
	} {
		text := writeMarkdown(t, run)
		if len(text) > markdownBytesMax {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if !strings.Contains(text, "more: `muster ") && !strings.Contains(text, "1 piece left out") {
			t.Errorf("%s: it does not say that there is more:\n%s", name, text)
		}
		if !strings.HasSuffix(text, "exit status 1: something is not identical\n") {
			t.Errorf("%s: it ends in %q", name, text[max(0, len(text)-200):])
		}
	}
}

// A command is for pasting: it is there whole, however long it is, or not at all.
// A warning of other settings is a remark of the summary, too. It stands there once.
func TestMarkdownNamesSettingsOnce(t *testing.T) {
	const text = "the golden was recorded with --stdin, this check has no --stdin"
	page := writeMarkdown(t, []Event{Note{Text: text, Warning: true}, Finished{regress.Summary{Command: regress.CheckCommand, Settings: []string{text}}}})
	if n := strings.Count(page, "recorded with"); n != 1 {
		t.Errorf("%d times in\n%s", n, page)
	}
}

func TestMarkdownCutsNoCommand(t *testing.T) {
	tool := "cc " + strings.Repeat("-DNAME ", 500) + "{in}"
	for length, there := range map[int]bool{500: true, 1 << 20: false} {
		command := strings.Repeat("c", length)
		s := summaryOf(command, nil)
		s.Interrupted, s.BrokeOff = true, true
		text := writeMarkdown(t, []Event{Started{Command: command, Tool: tool, At: epoch}, Finished{s}})
		if !strings.Contains(text, whole(tool)) {
			t.Errorf("the tool's command is not there whole:\n%.300s", text)
		}
		if got := strings.Contains(text, "- "+whole("muster "+command+" --resume")+" – "); got != there {
			t.Errorf("of %d bytes: there is %v", length, got)
		}
	}
}

// Contents stay within their fence, and names within their cell and type.
func TestMarkdownOfHostileRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.StringOf(rapid.SampledFrom([]rune("`~|\\<>&\n\t \"'*_[]()#@!+-=:/ax\x1b\u202e"))).Draw(t, "text")
		line := literal(evil)
		if strings.ContainsAny(strings.TrimSuffix(strings.TrimPrefix(line, "<code>"), "</code>"), "`|\\<>*_[]\n\"'@!") {
			t.Fatalf("%q as %q", evil, line)
		}
		checkHarmless(t, line)
		block := fenced(evil)
		checkHarmless(t, block)
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		fence := lines[len(lines)-1]
		if lines[0] != fence+"diff" || strings.Trim(fence, "`") != "" || len(fence) < 3 {
			t.Fatalf("a fence of %q and %q", lines[0], fence)
		}
		for _, inside := range lines[1 : len(lines)-1] {
			if strings.Contains(inside, fence) {
				t.Fatalf("%q is within a fence of %q", inside, fence)
			}
		}
	})
}

// A step summary that other commands write to as well is not ours to replace, but an empty
// one is, as CI makes it.
func TestMarkdownIsRecognised(t *testing.T) {
	text := writeMarkdown(t, []Event{Finished{summaryOf("check", nil)}})
	if !strings.HasPrefix(text, MarkdownMark+"\n") {
		t.Errorf("it begins with %.40q", text)
	}
	page := string(writeHTML(t, []Event{Finished{summaryOf("check", nil)}}))
	if at := strings.Index(page, HTMLMark); at < 0 || at > 1000 {
		t.Errorf("the mark of a page is at %d", at)
	}
}
