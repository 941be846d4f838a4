package report

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/cost"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// worstShown is the number of worst cases that the summary names.
const worstShown = 3

// cost returns what the change costs in a few lines, or "" if no cost was reported.
func (r *results) cost() string {
	c := r.costs
	if c == nil {
		return ""
	}
	if !c.CPU.IsKnown() {
		return "cost: " + readable.Line(c.Why) + "\n"
	}
	var b strings.Builder
	figures := c.figures()
	paint := palette.Plain
	if len(c.Over) > 0 {
		figures += ": more than " + readable.Line(strings.Join(c.Over, " and "))
		paint = palette.Red
	}
	fmt.Fprintf(&b, "cost: %s\n", r.paint.Paint(paint, figures))
	if c.Indicative {
		fmt.Fprintf(&b, "      indicative: %s\n", readable.Line(c.Why))
	} else {
		fmt.Fprintf(&b, "      %s\n", r.paint.Paint(palette.Dim, measuredText(c)))
	}
	for _, w := range c.Warnings {
		if w.Kind == cost.TooFew || w.Kind == cost.Uneven || w.Kind == cost.Noisy && len(c.Over) == 0 {
			fmt.Fprintf(&b, "      %s\n", readable.Line(w.Text))
		}
	}
	if text := worstText(c.Worst); text != "" && !c.Indicative {
		b.WriteString("      worst " + text + "\n")
	}
	return b.String()
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
	for _, c := range worst[:min(len(worst), worstShown)] {
		list = append(list, fmt.Sprintf("%s %s ×", name.Print(c.Name), ratioDigits(c.CPU)))
	}
	return strings.Join(list, ", ")
}
