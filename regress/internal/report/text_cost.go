package report

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/palette"
)

// worstShown is the number of worst cases that the summary names.
const worstShown = 3

// cost returns what the change costs in a few lines, or "" if no cost was reported.
func (r *results) cost() string {
	lines := costLines(r.costs, r.paint, false)
	if lines == nil {
		return ""
	}
	return "cost: " + strings.Join(lines, "\n      ") + "\n"
}

// costLines returns what the change costs. It returns nil if no cost was reported. If all is set, it has the warnings and
// worst cases that the terminal has no room for.
func costLines(c *Cost, p palette.Painter, all bool) (lines []string) {
	if c == nil {
		return nil
	}
	if !c.CPU.IsKnown() {
		return []string{readable.Line(c.Why)}
	}
	figures, paint, worst := c.figures(), palette.Plain, worstShown
	if len(c.Over) > 0 {
		figures += ": more than " + readable.Line(strings.Join(c.Over, " and "))
		paint = palette.Red
	}
	lines = append(lines, p.Paint(paint, figures))
	if c.Indicative {
		lines = append(lines, "indicative: "+readable.Line(c.Why))
	} else {
		lines = append(lines, p.Paint(palette.Dim, measuredText(c)))
	}
	for _, w := range c.Warnings {
		if all || w.Kind != cost.Noisy || len(c.Over) == 0 {
			lines = append(lines, readable.Clip(readable.Line(w.Text), 1000))
		}
	}
	if all {
		worst = len(c.Worst)
	}
	if text := worstText(c.Worst[:min(len(c.Worst), worst)]); text != "" && !c.Indicative {
		lines = append(lines, "worst "+text)
	}
	return lines
}

// tooLittle replaces a ratio that would mislead.
const tooLittle = "too little to tell"

// vague reports whether a ratio is better not shown. An indicative ratio has no interval
// either, but it is labelled as indicative.
func (c *Cost) vague(r cost.Ratio) bool { return r.IsKnown() && !c.Indicative && r.Vague() }

// figures returns the ratios, and names what was too little to measure.
func (c *Cost) figures() string {
	switch cpu, memory := c.vague(c.CPU), c.vague(c.Memory); {
	case cpu && (memory || !c.Memory.IsKnown()):
		return tooLittle
	case cpu:
		return tooLittle + " of CPU time, peak memory " + ratioText(c.Memory)
	case memory:
		return "CPU " + ratioText(c.CPU) + ", " + tooLittle + " of peak memory"
	case c.Memory.IsKnown():
		return "CPU " + ratioText(c.CPU) + ", peak memory " + ratioText(c.Memory)
	}
	return "CPU " + ratioText(c.CPU)
}

// ratioText returns a ratio with its interval: "1.03 × (1.01 … 1.05)".
func ratioText(ratio cost.Ratio) string {
	text := ratioDigits(ratio.Value) + " ×"
	if ratio.Bounded() {
		text += fmt.Sprintf(" (%s … %s)", ratioDigits(ratio.Low), ratioDigits(ratio.High))
	}
	return text
}

// ratioDigits uses one more digit where two would print 1.
func ratioDigits(v float64) string {
	if v > 0.98 && v < 1.02 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	if v >= 100 {
		return readable.Number(int64(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func measuredText(c *Cost) string {
	text := fmt.Sprintf("%s of %s, both commands in turns", readable.Count(c.Pairs, "pair"), readable.Count(c.Measured, "case"))
	if c.Against != "" {
		text = fmt.Sprintf("%s of %s, in turns with the command of the record, %s", readable.Count(c.Pairs, "pair"), readable.Count(c.Measured, "case"), readable.Line(c.Against))
	}
	if c.Took > 0 {
		text += " (" + readable.Duration(c.Took) + ")"
	}
	return text
}

func worstText(worst []cost.Case) string {
	var list []string
	for _, c := range worst {
		list = append(list, fmt.Sprintf("%s %s ×", name.Print(c.Name), ratioDigits(c.CPU)))
	}
	return strings.Join(list, ", ")
}

// EngineWords describes where an engine ran a case, and how long. It returns "" for a run on
// this machine.
func EngineWords(r *outcome.EngineRun) string {
	if r == nil {
		return ""
	}
	var words []string
	add := func(ok bool, text string) {
		if ok {
			words = append(words, text)
		}
	}
	ran := "ran"
	if r.Cached {
		words = append(words, "reused")
		ran = "once ran"
	}
	add(r.Worker != "", ran+" on "+workerText(r.Worker))
	add(r.Worker == "" && !r.Cached, ran)
	add(r.QueueKnown && !r.Cached, "queued "+readable.Duration(r.Queued))
	add(r.Took > 0, "took "+readable.Duration(r.Took))
	return strings.Join(words, ", ")
}

// workerColumnsMax bounds the name of a worker, which may contain a long ID.
const workerColumnsMax = 24

func workerText(raw string) string { return shorten(name.Print(raw), workerColumnsMax) }

// beside joins two texts if both exist.
func beside(words, between, where string) string {
	if words == "" || where == "" {
		return words + where
	}
	return words + between + where
}

// engineCounts says how many results came from the engine's cache.
func engineCounts(r *regress.EngineRuns) string {
	return readable.Count(r.Cached+r.Executed, "run") + ", " + readable.Number(r.Cached) + " of them reused"
}

// engineWaits gives the mean times that runs waited and took.
func engineWaits(r *regress.EngineRuns) string {
	if r.Executed == 0 || r.Took == 0 {
		return ""
	}
	if r.QueuesKnown < r.Executed {
		return "in the mean a run took " + readable.Duration(r.Mean(r.Took))
	}
	return fmt.Sprintf("in the mean a run waited %s for a worker and took %s", readable.Duration(r.Mean(r.Queued)), readable.Duration(r.Mean(r.Took)))
}

// engineSeen names the workers, or returns "" if they have no names.
func engineSeen(r *regress.EngineRuns) string {
	if len(r.Workers) == 0 {
		return ""
	}
	text := readable.Count(len(r.Workers), "worker")
	if slow, ok := r.Slowest(); ok {
		text += fmt.Sprintf(", the slowest %s with %s a run, all %s", workerText(slow.Name), readable.Duration(slow.Mean()), readable.Duration(r.Mean(r.Took)))
	}
	return text
}

func longestRunText(l regress.LongestRun) string {
	if l.Took == 0 {
		return ""
	}
	text := name.Print(l.Name) + ", " + readable.Duration(l.Took)
	if l.Worker != "" {
		text += " on " + workerText(l.Worker)
	}
	return text
}

// engineLines describes the runs on an engine, beyond their number.
func engineLines(r *regress.EngineRuns) []string {
	lines := []string{"sent " + readable.Size(r.Sent) + ", received " + readable.Size(r.Received)}
	if seen := engineSeen(r); seen != "" {
		lines[0] = seen + "; " + lines[0]
	}
	if waits := engineWaits(r); waits != "" {
		lines = append(lines, waits)
	}
	if longest := longestRunText(r.Longest); longest != "" && r.Executed > 1 {
		lines = append(lines, "longest: "+longest)
	}
	return lines
}
