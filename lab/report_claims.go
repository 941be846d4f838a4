package lab

import (
	"cmp"
	"fmt"

	"muster/internal/page"
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/results"
)

// ClaimsReport reports the verdict on each claim, from the results of [Claims].
func ClaimsReport(r *Results, o ClaimsOptions) Report {
	j := newJudge(r, o.Sizes)
	counts := map[verdict]int{}
	var (
		sections []page.Section
		lines    []any
	)
	charts := []plot.Chart{{}, procsChart(j), rootsChart(j), {}}
	for i, a := range j.articles() {
		s := page.Section{
			Title: a.title, Text: []string{a.address + ". Measured on " + a.machine + "."},
			Tables: []page.Table{{Caption: "the claims, and the figures of this machine", Columns: []page.Column{
				{Title: "", Right: true}, {Title: "claim"}, {Title: "verdict"}, {Title: "here"}, {Title: "holds if"}, {Title: "why"},
			}}},
		}
		for _, c := range a.claims {
			f := j.decide(c)
			counts[f.verdict]++
			lines = append(lines, map[string]any{
				"type": "claim", "number": c.number, "article": a.title, "claim": c.statement, "verdict": f.verdict.String(),
				"here": f.here, "holds_if": c.holdsIf(), "why": f.why,
			})
			s.Tables[0].Rows = append(s.Tables[0].Rows, []page.Cell{
				{Text: fmt.Sprint(c.number)}, {Text: c.statement}, {Class: f.verdict.class()}, {Text: cmp.Or(f.here, "–")}, {Text: c.holdsIf()}, {Text: f.why},
			})
		}
		if i == 0 {
			table, bars := j.corpus()
			s.Tables, s.Pictures = append(s.Tables, table), bars
		}
		s.Charts = charts[i].Drawable()
		sections = append(sections, s)
	}
	d := newDocument(r, "Claims of well-known articles on concurrency, measured here",
		fmt.Sprintf("%d claims: %d hold, %d no longer hold, %d are undecided.", len(lines), counts[holds], counts[noLongerHolds], counts[undecided]),
		howMeasured(o.Count)+" A ratio is the median of the ratios of the rounds. "+
			"A claim holds if the whole interval is within its bound, and no longer holds if the interval is outside. It is undecided if the interval crosses the bound, after a single run, or if other programs took the processors. "+
			"Figures at GOMAXPROCS 1 are judged by processor time, which other programs hardly change. "+
			"The claims are paraphrased, with the articles' figures.")
	d.Sections = append(sections, page.Section{
		Title: "All figures",
		Text:  []string{"The verdicts rest on these figures."},
		Tables: []page.Table{
			j.figuresTable(),
		},
		Warnings: j.warnings(r.Names()),
	})
	return Report{d, lines}
}

func procsChart(j *judge) plot.Chart {
	c := plot.Chart{
		Title: "A channel against GOMAXPROCS", X: plot.Axis{Label: "GOMAXPROCS", Log: true},
		Y: plot.Axis{Label: "seconds for " + readable.Number(channelPortion) + " items"}, Lines: []plot.Line{{Name: "without work beside it"}},
	}
	for _, procs := range claimProcs() {
		c.Lines[0].Points = append(c.Lines[0].Points, j.scaledPoint(float64(procs), channelAt(0, procs), results.NsPerOp, channelPortion*1e-9)...)
	}
	return c
}

func rootsChart(j *judge) plot.Chart {
	c := plot.Chart{
		Title: "Goroutine ÷ loop against work", X: plot.Axis{Label: "square roots per call", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true},
	}
	for _, procs := range []int{1, 2} {
		l := plot.Line{Name: fmt.Sprintf("GOMAXPROCS %d", procs)}
		for _, work := range claimWork() {
			calls := claimCalls(j.ClaimSizes, work)
			l.Points = append(l.Points, summaryPoint(float64(work), j.timeRatio(goName(work, calls, procs), loopName(work, calls, 1)))...)
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
