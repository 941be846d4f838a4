package report

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/palette"
)

// headline returns the line on how a run ended.
func (r *results) headline(s regress.Summary) string {
	text, c := ended(s)
	return r.paint.Paint(palette.Bold, readable.Line(s.Command)+":") + " " + r.paint.Paint(c, text)
}

// Headline says in a few words how a run ended.
func Headline(s regress.Summary) string {
	text, _ := ended(s)
	return text
}

// ended returns how a run ended, with the colour.
func ended(s regress.Summary) (string, palette.Style) {
	text, c := headlineText(s), palette.Green
	switch {
	case s.Interrupted:
		text += ", interrupted"
		c = palette.Yellow
	case s.ExitStatus != regress.StatusClean && s.Verdicts.NotIdentical() == 0 && s.Command != regress.RecordCommand:
		c = palette.Yellow
	case s.ExitStatus != regress.StatusClean:
		c = palette.Red
	}
	if len(s.Over) > 0 {
		text += ", but the change costs more: " + readable.Line(strings.Join(s.Over, ", "))
		c = palette.Red
	}
	return text, c
}

func headlineText(s regress.Summary) string {
	cases := readable.Count(s.Cases, "case")
	if s.Command == regress.RecordCommand {
		if s.Recorded == s.Cases && !s.BrokeOff {
			return cases + " recorded"
		}
		text := fmt.Sprintf("%s of %s recorded", readable.Number(s.Recorded), cases)
		switch {
		case s.BrokeOff:
			text += ", and the record is not finished"
		case s.ExitStatus == regress.StatusDiffers:
			text += ": every case fails"
		}
		return text
	}
	differ := s.Verdicts.NotIdentical()
	switch left := s.Unjudged(); {
	case left > 0: // these come first, because nothing is known about them
		return fmt.Sprintf("%s, %s not run", comparedText(s, cases), readable.Number(left))
	case differ > 0 && s.ExitStatus == regress.StatusClean:
		return comparedText(s, cases) + ", all allowed"
	case differ > 0:
		return comparedText(s, cases)
	case s.Cases == 1:
		return "1 case, identical" + maskedHeadline(s.Masked)
	}
	return "all " + cases + " identical" + maskedHeadline(s.Masked)
}

// comparedText returns how many of the cases differ, or if none does, how many are identical.
func comparedText(s regress.Summary, cases string) string {
	if differ := s.Verdicts.NotIdentical(); differ > 0 {
		return fmt.Sprintf("%s of %s not identical", readable.Number(differ), cases)
	}
	return fmt.Sprintf("%s of %s identical", readable.Number(s.Verdicts[regress.Identical]), cases)
}

// summary fits one screen: at most twenty lines, of these ten of causes.
func (r *results) summary(s regress.Summary) string {
	var b strings.Builder
	b.WriteString(r.headline(s) + "\n")
	for _, c := range countsOf(s) {
		if c.n > 0 {
			fmt.Fprintf(&b, "  %11s  %s\n", readable.Number(c.n), r.paint.Paint(c.colour, c.what))
		}
	}
	most := namedShort
	if r.verbosity == Verbose {
		most = namedMax
	}
	for _, remark := range remarks(s, most) {
		b.WriteString(r.paint.Paint(palette.Yellow, readable.Line(remark.line)) + "\n")
	}
	if !r.crowded() {
		b.WriteString(r.causeTable(s))
	}
	if r.verbosity == Verbose {
		b.WriteString(toolText(s))
	}
	b.WriteString(resourcesText(s))
	b.WriteString(r.cost())
	if s.Run != "" {
		fmt.Fprintf(&b, "run %s\n", readable.Line(s.Run))
	}
	b.WriteString(r.hints(s))
	if meaning := meaningOf(s); meaning != "" {
		fmt.Fprintf(&b, "exit status %d: %s\n", s.ExitStatus, meaning)
	}
	return b.String()
}

// resourcesText returns the time and resources of the run, here and on an engine.
func resourcesText(s regress.Summary) string {
	if r := s.Engine; r != nil {
		cpu := ""
		if s.IsMeasured() {
			cpu = ", CPU " + readable.Duration(s.CPU) + " there"
		}
		return fmt.Sprintf("wall %s, on the engine %s%s, muster itself %s of CPU\nengine: %s\n",
			readable.Duration(s.Wall), engineCounts(r), cpu, readable.Duration(s.OwnCPU), strings.Join(engineLines(r), "\n        "))
	}
	if s.Merged > 0 {
		return fmt.Sprintf("%s runs merged in %s; CPU of their cases %s\n", readable.Number(s.Merged), readable.Duration(s.Wall), readable.Duration(s.CPU))
	}
	return fmt.Sprintf("wall %s, CPU %s, %s cores busy, muster itself %s of CPU\n",
		readable.Duration(s.Wall), readable.Duration(s.CPU), strconv.FormatFloat(finite(s.CoresBusy), 'f', 2, 64), readable.Duration(s.OwnCPU))
}

// causeColumnsMin is the shortest name of a cause that still means something.
const causeColumnsMin = 10

func (r *results) causeTable(s regress.Summary) string {
	if len(r.causes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(r.paint.Paint(palette.Bold, r.count.String()) + "\n")
	for _, c := range r.causes {
		lead := fmt.Sprintf("  %11s  %-4s ", readable.Number(c.cases), readable.Line(c.id))
		columns := columnsDefault
		if r.stream.Terminal {
			columns = r.stream.columns() - 1
		}
		b.WriteString(lead + shorten(readable.Line(c.name), max(columns-textColumns(lead), causeColumnsMin)) + "\n")
	}
	if more := s.Groups - len(r.causes); more > 0 {
		b.WriteString(r.paint.Paint(palette.Dim, fmt.Sprintf("  %11s  more: %s", readable.Number(more), allCauses(s))) + "\n")
	}
	return b.String()
}

// allCauses returns the command that lists all causes of a run, or the name of this output if
// the run was not kept.
func allCauses(s regress.Summary) string {
	if s.Run == "" {
		return "--verbose"
	}
	return "muster groups"
}

// hints returns the commands to go on with. On a narrow terminal they have no explanations.
func (r *results) hints(s regress.Summary) string {
	var b strings.Builder
	lead, width, hints := "next: ", 23, hintsFor(s)
	for _, h := range hints {
		width = max(width, len(h.Command))
	}
	for _, h := range hints {
		line := fmt.Sprintf("%s%-*s", lead, width, h.Command)
		if !r.stream.Terminal || textColumns(line+h.What)+2 < r.stream.columns() {
			line += "  " + r.paint.Paint(palette.Dim, h.What)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		lead = "      "
	}
	return b.String()
}

// A count is one line of the table.
type count struct {
	n      int
	what   string
	colour palette.Style
}

func countsOf(s regress.Summary) []count {
	var counts []count
	if s.Command == regress.RecordCommand {
		e := s.Endings
		counts = []count{
			{e.Succeeded, "exited with 0", palette.Green},
			{e.Failed, "failed", palette.Yellow},
			{e.Signalled, "ended by a signal", palette.Yellow},
			{e.TimedOut, "timed-out", palette.Yellow},
			{e.OutOfMemory, "out-of-memory", palette.Yellow},
			{e.OutputLimit, "output-limit", palette.Yellow},
			{s.Verdicts[regress.Flaky], "flaky", palette.Purple},
			{s.Verdicts[regress.EnvironmentFailed], "environment: not recorded", palette.Red},
		}
	} else {
		for v, n := range s.Verdicts {
			counts = append(counts, count{n, regress.Verdict(v).String(), colourOf(regress.Verdict(v))})
		}
	}
	return append(counts, count{s.Unjudged(), "not run", palette.Yellow})
}

// A hint is a suggested command.
type hint struct{ Command, What string }

// hintsFor returns the commands to go on with.
func hintsFor(s regress.Summary) []hint {
	var hints []hint
	add := func(ok bool, command, what string) {
		if ok {
			hints = append(hints, hint{command, what})
		}
	}
	v := s.Verdicts
	kept := s.Run != ""
	checked := kept && s.Command != regress.RecordCommand && !s.BrokeOff // a run cannot be shown before its end
	differ := v.NotIdentical() > 0
	acceptable := v.NotIdentical() > v[regress.EnvironmentFailed] && s.Command != regress.CompareCommand
	goesOn := s.BrokeOff && s.ExitStatus != regress.StatusInput // with other arguments the resumption would be refused
	add(kept && goesOn, "muster "+readable.Line(s.Command)+" --resume", "goes on where this run ended, with its other arguments")
	add(s.Command == regress.RecordCommand && !s.BrokeOff && s.Recorded > 0, "muster check", "compares with what was recorded")
	failing := s.Command == regress.RecordCommand && !s.BrokeOff && s.Recorded > 0 && s.Endings.Failing() > 0
	add(failing && s.Endings.Failing() > len(s.Failing), "muster cases --failing", "lists all that fail")
	add(failing && kept, "muster show NAME", "what a case left, how to run it by hand")
	add(checked && s.Groups > 0, "muster groups", "groups the differences by cause")
	add(checked && s.Groups > 0 && acceptable, "muster review", "decides on them cause by cause")
	add(checked && differ, "muster show NAME", "all that differs in it, how to reproduce it")
	add(checked && acceptable, "muster accept --all", acceptText(s))
	add(checked && v[regress.EnvironmentFailed] > 0, "muster rerun --failed", "once the machine has what was missing")
	return hints
}

// acceptText describes what accept --all does, and the flag that takes what it leaves out. It
// fits 80 columns.
func acceptText(s regress.Summary) string {
	var left []string
	v := s.Verdicts
	failing := s.Stopped + v[regress.Crashed] + v[regress.NewlyTimedOut] + v[regress.NewlyOutOfMemory] + v[regress.NewlyOutputLimited] + v[regress.NewlyFailing]
	if failing > 0 {
		left = append(left, readable.Number(failing)+" (--failing)")
	}
	if v[regress.Missing] > 0 {
		left = append(left, readable.Number(v[regress.Missing])+" (--missing)")
	}
	if left == nil {
		return "makes this the golden"
	}
	return "takes all but " + strings.Join(left, ", ")
}

// meaningOf explains an exit status other than 0.
func meaningOf(s regress.Summary) string {
	switch s.ExitStatus {
	case regress.StatusClean:
		return ""
	case regress.StatusDiffers:
		if s.Command == regress.RecordCommand {
			return "every case fails, and --allow-failures is not set"
		}
		if s.Unjudged() > 0 {
			return "something is not identical, or was not run"
		}
		if s.Verdicts.NotIdentical() == 0 && s.Masked.Cases > 0 && len(s.Over) == 0 {
			return "something was not compared, and --strict is set"
		}
		if s.Verdicts.NotIdentical() == 0 && len(s.Over) > 0 {
			return "the change costs more than --fail-on allows"
		}
		return "something is not identical"
	case regress.StatusInput:
		return "usage, configuration or damaged input"
	case regress.StatusEnvironment:
		return "the environment failed, not the tool"
	case regress.StatusEmpty:
		return "nothing was selected"
	case regress.StatusInterrupted:
		return "interrupted"
	}
	return "see muster help exit-codes"
}
