package report

import (
	"fmt"
	"strconv"
	"strings"

	"muster/regress/internal/cost"
	"muster/regress/internal/name"
	"muster/regress/internal/readable"
)

// worstShown is how many of the worst cases the summary names.
const worstShown = 3

// cost says what the change costs, in a few lines; nothing where it was not told.
func (r *results) cost() string {
	c := r.costs
	if c == nil {
		return ""
	}
	if !c.CPU.Told() {
		return "cost: " + readable.Line(c.Why) + "\n"
	}
	var b strings.Builder
	figures := "CPU " + ratioText(c.CPU)
	if c.Memory.Told() {
		figures += ", peak memory " + ratioText(c.Memory)
	}
	paint := colour("")
	if len(c.Over) > 0 {
		figures += ": more than " + readable.Line(strings.Join(c.Over, " and "))
		paint = red
	}
	fmt.Fprintf(&b, "cost: %s\n", r.paint.paint(paint, figures))
	if c.Indicative {
		fmt.Fprintf(&b, "      indicative: %s\n", readable.Line(c.Why))
	} else {
		fmt.Fprintf(&b, "      %s\n", r.paint.paint(dim, measuredText(c)))
	}
	for _, w := range c.Warnings {
		if w.Kind == cost.Uneven || w.Kind == cost.Noisy && len(c.Over) == 0 {
			fmt.Fprintf(&b, "      %s\n", readable.Line(w.Text))
		}
	}
	if text := worstText(c.Worst); text != "" && !c.Indicative {
		b.WriteString("      worst " + text + "\n")
	}
	return b.String()
}

// ratioText is a ratio with its interval: "1.03 × (1.01 … 1.05)".
func ratioText(ratio cost.Ratio) string {
	text := ratioDigits(ratio.Value) + " ×"
	if ratio.Bounded() {
		text += fmt.Sprintf(" (%s … %s)", ratioDigits(ratio.Low), ratioDigits(ratio.High))
	}
	return text
}

// ratioDigits has a digit more where two would say 1.
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
	if c.Took > 0 {
		text += " (" + human(c.Took) + ")"
	}
	if !c.CPU.Bounded() {
		text += "; too few for an interval"
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
