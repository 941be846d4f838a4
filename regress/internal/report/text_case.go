package report

import (
	"fmt"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/palette"
)

// width of the longest verdict, so that names are aligned
const verdictColumns = len("newly-failing")

// caseLine returns a case in one line.
func (r *results) caseLine(c Case) string {
	words := gist(c)
	if c.Verdict == regress.Identical && c.Ending != nil && !c.Ending.Success() { // alike, but failing
		words = strings.TrimRight(c.Ending.String()+"  "+words, " ")
	}
	return r.heading(c, name.Print(c.Name), beside(words, "  ", EngineWords(c.Engine)))
}

func (r *results) heading(c Case, title, words string) string {
	if c.Unstable {
		words = beside("unstable", ", ", words)
	}
	word, colour := c.Verdict.String(), colourOf(c.Verdict)
	if r.fails(c) {
		word, colour = "failing", palette.Yellow
	}
	verdict := r.paint.Paint(colour, fmt.Sprintf("%-*s", verdictColumns, word))
	line := verdict + "  " + title
	if words != "" {
		line += "  " + words
	}
	return line + "\n"
}

// gist describes a case in a few words: the endings, the parts that differ or are flaky, the
// failure.
func gist(c Case) string {
	var words []string
	var parts []string
	for _, d := range c.Differences {
		if d.Part == outcome.EndingPart {
			words = append(words, oldToNow(d))
		} else {
			parts = append(parts, name.Print(d.Part))
		}
	}
	if c.More > 0 {
		parts = append(parts, readable.Number(c.More)+" more")
	}
	if len(parts) > 0 {
		words = append(words, strings.Join(parts, ", "))
	}
	if len(c.Differences) == 0 && len(c.Flaky) > 0 {
		words = append(words, "differs from run to run: "+flakyParts(c.Flaky))
	}
	if c.Why != "" {
		words = append(words, readable.Line(c.Why))
	}
	return strings.Join(words, "; ")
}

// a case may leave thousands of files, all of them flaky
const flakyNamedMax = 4

func flakyParts(parts []string) string {
	var printable []string
	for _, p := range parts[:min(len(parts), flakyNamedMax)] {
		printable = append(printable, name.Print(p))
	}
	text := strings.Join(printable, ", ")
	if more := len(parts) - flakyNamedMax; more > 0 {
		text += " and " + readable.Number(more) + " more"
	}
	return text
}

func oldToNow(d Difference) string {
	return readable.Line(d.Old) + " → " + readable.Line(d.Now)
}

// caseWhole returns a case with its differences. Each difference and their sum are bounded.
func (r *results) caseWhole(c Case) string {
	return r.heading(c, r.paint.Paint(palette.Bold, name.Print(c.Name)), beside(endings(c), "  ", EngineWords(c.Engine))) + r.details(c)
}

// endings returns the old and the new ending of a case, if they differ.
func endings(c Case) string {
	for _, d := range c.Differences {
		if d.Part == outcome.EndingPart {
			return oldToNow(d)
		}
	}
	return ""
}

// details returns the differing parts of a case, and counts those that it leaves out.
func (r *results) details(c Case) string {
	var b strings.Builder
	lines, hidden := 0, 0
	for _, d := range c.Differences {
		if d.Part == outcome.EndingPart {
			continue
		}
		b.WriteString("  " + r.paint.Paint(palette.Cyan, name.Print(d.Part)) + "  " + oldToNow(d) + remarkOn(d) + "\n")
		if n := strings.Count(d.Diff, "\n"); lines+n <= caseLinesMax {
			lines += n
			b.WriteString(r.indented(d.Diff))
		} else {
			hidden += diff.Rows(d.Diff)
		}
		hidden += max(d.Hidden, 0)
	}
	if (c.Verdict == regress.Flaky || c.Unstable) && len(c.Flaky) > 0 {
		b.WriteString("  differs from run to run: " + flakyParts(c.Flaky) + "\n")
	}
	if left := leftOut(hidden, c.More); left != "" {
		b.WriteString("  " + r.paint.Paint(palette.Dim, "… "+left+": "+showCommand(c.Name)) + "\n")
	}
	return b.String()
}

// remarkOn explains the absence of a diff where one could be expected.
func remarkOn(d Difference) string {
	if d.Binary {
		return " (binary)"
	}
	return ""
}

// leftOut describes what is not shown of a case, or returns "".
func leftOut(hiddenLines, moreParts int) string {
	var left []string
	if hiddenLines > 0 {
		left = append(left, readable.Count(hiddenLines, "more line"))
	}
	if moreParts > 0 {
		left = append(left, readable.Count(moreParts, "more part"))
	}
	return strings.Join(left, " and ")
}

// showCommand returns the command that shows all of a case.
func showCommand(raw string) string {
	command := "muster show "
	if strings.HasPrefix(raw, "-") {
		command += "-- " // else the name would be taken for a flag
	}
	return command + shellescape.Quote(name.Print(raw))
}

// indented returns a diff with each line coloured and indented. It escapes control characters
// again, because the diff may come from a foreign events file.
func (r *results) indented(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(readable.Text(diff)) {
		b.WriteString("    " + paintDiffLine(r.paint, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
