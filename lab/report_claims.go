package lab

import (
	"cmp"
	"fmt"

	"muster/internal/plot"
	"muster/lab/internal/run"
	"muster/lab/page"
	"muster/lab/results"
)

// ClaimsReport shows what became of each claim, from the results of [Claims].
func ClaimsReport(r *Results, o ClaimsOptions) Report {
	j := newJudge(r, o.Sizes)
	counts := map[verdict]int{}
	var (
		sections []page.Section
		lines    []any
	)
	for _, a := range articles() {
		s := page.Section{
			Title: a.title, Text: []string{a.address + ". Measured then on: " + a.machine + "."},
			Tables: []page.Table{{Caption: "what it says, and what is so here", Columns: []page.Column{
				{Title: "", Right: true}, {Title: "claim"}, {Title: "verdict"}, {Title: "here"}, {Title: "holds if"}, {Title: "why"},
			}}},
		}
		for _, c := range claims() {
			if c.article != a.key {
				continue
			}
			f := c.judge(j)
			counts[f.verdict]++
			lines = append(lines, map[string]any{
				"type": "claim", "number": c.number, "article": a.title, "claim": c.says, "verdict": f.verdict.String(),
				"here": f.here, "holds_if": c.holds, "why": f.why,
			})
			s.Tables[0].Rows = append(s.Tables[0].Rows, []page.Cell{
				{Text: fmt.Sprint(c.number)}, {Text: c.says}, {Class: f.verdict.class()}, {Text: cmp.Or(f.here, "–")}, {Text: c.holds}, {Text: f.why},
			})
		}
		s.Charts = j.charts(a.key)
		sections = append(sections, s)
	}
	d := newDocument(r, "What well-known articles said of concurrency, measured here",
		fmt.Sprintf("%d claims: %d hold, %d no longer hold, %d cannot be told.", len(claims()), counts[holds], counts[noLongerHolds], counts[cannotBeTold]),
		howMeasured(o.Count)+" Ratios are medians of the ratios of each turn. "+
			"A claim holds where the whole interval is within its bound, and no longer where it is beyond it; where it reaches to both sides, or there is one run, that cannot be told. "+
			"The claims are in our words; figures in them are the articles'.")
	d.Sections = append(sections, page.Section{
		Title: "All figures",
		Text:  []string{"What the verdicts rest on."},
		Tables: []page.Table{
			j.figuresTable(),
		},
		Warnings: j.warnings(r.Names()),
	})
	return Report{d, lines}
}

// charts are what an article drew, or would have.
func (j *judge) charts(article string) []plot.Chart {
	switch article {
	case "A1":
		return j.corpusChart()
	case "A2":
		return j.procsChart()
	case "A3":
		return j.rootsChart()
	}
	return nil
}

func (j *judge) corpusChart() []plot.Chart {
	c := plot.Chart{Title: "The corpus by workers", X: plot.Axis{Label: "workers; 0 = one after another without a pool"}, Y: plot.Axis{Label: "ms for each source"}}
	runner := plot.Line{Name: "muster record"}
	for _, jobs := range corpusJobs() {
		runner.Points = append(runner.Points, j.scaled(float64(jobs), corpusName(run.Muster, jobs), results.NsPerOp, 1e-6)...)
	}
	with := plot.Line{Name: "make -j", Points: j.scaled(float64(j.cpus), corpusName(makeImpl, j.cpus), results.NsPerOp, 1e-6)}
	c.Lines = []plot.Line{runner, with}
	return drawable(c)
}

func (j *judge) procsChart() []plot.Chart {
	c := plot.Chart{
		Title: "A channel against GOMAXPROCS", X: plot.Axis{Label: "GOMAXPROCS", Log: true},
		Y: plot.Axis{Label: "seconds for " + grouped(channelPortion) + " items"}, Lines: []plot.Line{{Name: "without work beside it"}},
	}
	for _, procs := range claimProcs() {
		c.Lines[0].Points = append(c.Lines[0].Points, j.scaled(float64(procs), channelAt(0, procs), results.NsPerOp, channelPortion*1e-9)...)
	}
	return drawable(c)
}

func (j *judge) rootsChart() []plot.Chart {
	c := plot.Chart{
		Title: "Goroutine ÷ loop against work", X: plot.Axis{Label: "square roots of a call", Log: true}, Y: plot.Axis{Label: "goroutine ÷ loop", Log: true},
	}
	for _, procs := range []int{1, 2} {
		l := plot.Line{Name: fmt.Sprintf("GOMAXPROCS %d", procs)}
		for _, work := range claimWork() {
			if s, _, lacks := j.slowdownOf(work, claimCount(j.sizes, work), procs); !lacks && s.N > 0 {
				l.Points = append(l.Points, plot.Point{X: float64(work), Y: s.Median, Low: s.Low, High: s.High})
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return drawable(c)
}
