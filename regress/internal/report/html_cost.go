package report

import (
	"html/template"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/cost"
	"muster/regress/internal/name"
)

// pageCost is what the change costs, as the page shows it.
type pageCost struct {
	Over    string
	Figures []fact
	Text    []string
	Plots   []template.HTML
	Worst   []worstCase
}

type worstCase struct{ Name, Ratio, Old, New string }

// pageWorstMax bounds the worst cases that the page names.
const pageWorstMax = 20

// view returns nil if no cost was reported.
func (c *Cost) view() (*pageCost, error) {
	if c == nil {
		return nil, nil
	}
	if !c.CPU.IsKnown() {
		return &pageCost{Text: []string{"There are no figures: " + readable.Line(c.Why) + "."}}, nil
	}
	v := &pageCost{Over: readable.Line(strings.Join(c.Over, ", ")), Figures: []fact{{"CPU time, new ÷ old", c.ratio(c.CPU)}}}
	if c.Memory.IsKnown() {
		v.Figures = append(v.Figures, fact{"Peak memory, new ÷ old", c.ratio(c.Memory)})
	}
	if c.Indicative {
		v.Text = append(v.Text, "Indicative: "+readable.Line(c.Why)+".")
	} else {
		v.Text = append(v.Text, "Of "+measuredText(c)+".")
	}
	for _, w := range c.Warnings {
		v.Text = append(v.Text, clipped(readable.Line(w.Text), 1000))
	}
	for _, one := range c.Worst[:min(len(c.Worst), pageWorstMax)] {
		v.Worst = append(v.Worst, worstCase{name.Print(one.Name), ratioDigits(one.CPU) + " ×", milliseconds(one.Old.CPU.Seconds()), milliseconds(one.New.CPU.Seconds())})
	}
	plots, err := costPlots(*c)
	for _, svg := range plots {
		v.Plots = append(v.Plots, template.HTML(svg)) // safe, because package plot escapes its texts
	}
	return v, err
}

func (c *Cost) ratio(r cost.Ratio) string {
	if c.vague(r) {
		return tooLittle
	}
	return ratioText(r)
}

func milliseconds(seconds float64) string {
	return strconv.FormatFloat(seconds*1000, 'f', 1, 64) + " ms"
}
