package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/palette"
)

// NewText returns a Reporter for people. At the end of the run it writes the cases that are not
// identical to the console's Out, the first ones with their differences. Then it writes a
// summary that fits one screen.
//
// If more than casesMax cases differ, the report begins with the causes instead, and names the
// commands that show the cases. It then lists only the first casesMax cases that no
// cause explains, with one line each. On a terminal the first cases are written as soon as they are
// final. With Verbose all cases are. With Quiet the report is only how the run ended, and how many
// cases the machine failed and why. Progress goes to Err: on a terminal as one line that is
// redrawn, else as a line every few seconds.
func NewText(c Console, v Verbosity) Reporter {
	progress, out := newProgress(c, v)
	return Tee{progress, &results{w: out, stream: c.Out, paint: palette.Painter(c.Out.Colour), verbosity: v}}
}

// Bounds of the report. It counts what exceeds them. With Verbose the first two do not apply.
const (
	casesMax       = 20 // with more cases, the report begins with the causes
	wholeCasesMax  = 10 // cases with their differences; the others have one line each
	caseLinesMax   = 28 // lines of diff for one case: two diffs of default size
	listedCauses   = 8  // causes in the summary
	causeBytesKept = 1000
	failingHeldMax = 1000 // with more cases, a failing case is listed among the others
)

// results writes the cases and the summary.
type results struct {
	w         io.Writer
	stream    Stream // the stream that w leads to
	paint     palette.Painter
	verbosity Verbosity
	whole     int
	differing int           // cases that are not identical, without those that the machine failed
	failed    int           // cases that the machine failed
	failure   Case          // the first of them, for Quiet
	outside   int           // differing cases that no cause explains
	held      []Case        // written at the end; up to casesMax that differ, and up to casesMax that failed
	causes    []listedCause // the first ones
	count     CauseCount    // of all
	costs     *Cost
	recording bool
	failing   []Case // cases of a record; with Verbose they come after the others
}

// A listedCause is a cause in one line.
type listedCause struct {
	id, name string
	cases    int
}

func (r *results) Handle(ev Event) error {
	switch ev := ev.(type) {
	case Started:
		*r = results{w: r.w, stream: r.stream, paint: r.paint, verbosity: r.verbosity}
		r.recording = ev.Command == regress.RecordCommand
	case Case:
		return r.show(ev)
	case Group:
		r.count.add(&ev.Cause)
		if r.verbosity == Verbose || len(r.causes) < listedCauses {
			r.causes = append(r.causes, listedCause{ev.ID, readable.Clip(ev.Name, causeBytesKept), ev.Cases})
		}
	case Cost:
		r.costs = &ev
	case Finished:
		return r.write(r.ending(ev.Summary))
	}
	return nil
}

func (r *results) Close() error { return nil }

func (r *results) write(text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(r.w, text)
	return err
}

func (r *results) show(c Case) error {
	switch {
	case r.verbosity == Quiet:
		if c.Verdict == regress.EnvironmentFailed {
			if r.failed++; r.failed == 1 {
				r.failure = c
			}
		}
		return nil
	case c.Verdict == regress.Identical:
		if r.verbosity != Verbose {
			return nil
		}
		if r.fails(c) && len(r.failing) < failingHeldMax {
			r.failing = append(r.failing, c)
			return nil
		}
		return r.write(r.caseLine(c))
	}
	failed := c.Verdict == regress.EnvironmentFailed
	if failed {
		r.failed++
	} else {
		r.differing++
		if isOutsideCauses(c) {
			r.outside++
		}
	}
	switch {
	case r.verbosity == Verbose:
		return r.write(r.caseText(c))
	case failed && r.failed > casesMax:
	case !failed && r.crowded():
		r.held = slices.DeleteFunc(r.held, func(h Case) bool { return h.Verdict != regress.EnvironmentFailed && !isOutsideCauses(h) })
		if isOutsideCauses(c) && r.outside <= casesMax {
			r.held = append(r.held, c)
		}
	case r.stream.Terminal:
		return r.write(r.caseText(c))
	default:
		r.held = append(r.held, c)
	}
	return nil
}

// isOutsideCauses reports whether no cause explains a case, so that the causes do not lead to it.
func isOutsideCauses(c Case) bool {
	return c.Verdict == regress.Flaky || c.Verdict == regress.New || c.Verdict == regress.Missing
}

// crowded reports whether the report begins with the causes: more than casesMax cases differ.
func (r *results) crowded() bool { return r.verbosity != Verbose && r.differing > casesMax }

// caseText returns a case with its differences, or in one line.
func (r *results) caseText(c Case) string {
	if worthWhole(c) && (r.verbosity == Verbose || r.whole < wholeCasesMax) {
		r.whole++
		return r.caseWhole(c)
	}
	return r.caseLine(c)
}

// fails reports whether all runs of a recorded case agreed and did not exit with 0.
func (r *results) fails(c Case) bool {
	return r.recording && c.Verdict == regress.Identical && c.Ending != nil && !c.Ending.Success()
}

// worthWhole reports whether a case has more to show than fits one line.
func worthWhole(c Case) bool {
	return slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Part != outcome.EndingPart })
}

func (r *results) ending(s regress.Summary) string {
	if r.verbosity == Quiet {
		text := r.headline(s) + "\n"
		if r.failed > 0 && !r.recording { // the error of a record says it
			text += fmt.Sprintf("%s failed because of the machine; the first: %s: %s\n", readable.Cases(r.failed), name.Print(r.failure.Name), readable.Line(r.failure.Why))
		}
		return text
	}
	var b strings.Builder
	if r.crowded() {
		b.WriteString(r.causeTable(s) + r.paint.Paint(palette.Dim, casesElsewhere(s)) + "\n")
	}
	for _, c := range r.held {
		if r.crowded() && isOutsideCauses(c) {
			b.WriteString(r.caseLine(c))
		} else {
			b.WriteString(r.caseText(c))
		}
	}
	if more := r.outside - casesMax; more > 0 && r.crowded() {
		b.WriteString(r.paint.Paint(palette.Dim, fmt.Sprintf("… and %s more", readable.Number(more))) + "\n")
	}
	slices.SortFunc(r.failing, func(a, b Case) int { return cmp.Compare(a.Index, b.Index) })
	for _, c := range r.failing {
		b.WriteString(r.caseLine(c))
	}
	if more := r.failed - casesMax; more > 0 && r.verbosity != Verbose {
		b.WriteString(r.paint.Paint(palette.Dim, fmt.Sprintf("… and %s more that the machine failed", readable.Number(more))) + "\n")
	}
	if r.differing+r.failed > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(r.summary(s))
	return b.String()
}

// casesElsewhere names the commands that show cases which the report does not list.
func casesElsewhere(s regress.Summary) string {
	switch {
	case s.Run == "" || s.BrokeOff: // a run cannot be shown before its end
		return "--verbose lists the cases"
	case s.Groups > 0:
		return "muster show G1 lists the cases of a cause, muster show NAME shows one, --verbose lists all"
	}
	return "muster show NAME shows a case, --verbose lists all"
}

// width of the longest verdict, so that names are aligned
const verdictColumns = len("newly-failing")

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
	if c.Reused {
		words = beside("reused", ", ", words)
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
		words = append(words, "differs from run to run: "+name.List(c.Flaky, flakyNamedMax))
	}
	if c.Why != "" {
		words = append(words, readable.Line(c.Why))
	}
	return strings.Join(words, "; ")
}

// a case may leave thousands of files, all of them flaky
const flakyNamedMax = 4

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
		b.WriteString("  differs from run to run: " + name.List(c.Flaky, flakyNamedMax) + "\n")
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
func showCommand(raw string) string { return "muster show " + name.Quote(name.Typed(raw)) }

// indented returns a diff with each line coloured and indented. It escapes control characters
// again, because the diff may come from a foreign events file.
func (r *results) indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(readable.Text(text)) {
		line = strings.TrimSuffix(line, "\n")
		if r.paint {
			line = diff.Colour(line)
		}
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}
