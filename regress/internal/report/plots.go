package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"muster/internal/plot"
	"muster/regress/internal/cost"
)

// costPlots draws the costs of the cases of a Cost: old against new, and the distribution of
// the ratios. Each is one svg element that a page can hold as it is. It returns none if there
// is nothing to draw.
func costPlots(c Cost) ([]string, error) {
	all := c.CPU
	if c.vague(all) { // there are too few cases
		all = cost.Ratio{}
	}
	var pictures []string
	for _, chart := range []plot.Chart{timesChart(c.Cases), ratiosChart(c.Cases, all)} {
		if len(chart.Lines) == 0 {
			continue
		}
		var b strings.Builder
		if err := chart.SVG(&b); err != nil {
			return nil, err
		}
		pictures = append(pictures, b.String())
	}
	return pictures, nil
}

// timesChart has a dot for each case. Dots above the line take longer than before.
func timesChart(cases []cost.Case) plot.Chart {
	chart := plot.Chart{
		Title: "CPU time of each case",
		X:     plot.Axis{Label: "old CPU time, ms", Log: true}, Y: plot.Axis{Label: "new CPU time, ms", Log: true},
	}
	low, high := math.Inf(1), 0.0
	var dots []plot.Point
	for _, one := range cases {
		p := plot.Point{X: one.Old.CPU.Seconds() * 1000, Y: one.New.CPU.Seconds() * 1000}
		if chart.Draws(p) {
			dots = append(dots, p)
			low, high = min(low, p.X, p.Y), max(high, p.X, p.Y)
		}
	}
	if len(dots) == 0 {
		return plot.Chart{}
	}
	low, high = low/1.1, high*1.1
	chart.Lines = []plot.Line{
		{Name: "one case, CPU time in ms", Form: plot.Cloud, Points: dots},
		{Name: "old = new", Form: plot.Rule, Points: []plot.Point{{X: low, Y: low}, {X: high, Y: high}}},
	}
	return chart
}

const (
	ratioBins = 40
	ratioEnds = 0.01 // share of the cases that go into the outermost bins, on either side
)

func ratiosChart(cases []cost.Case, all cost.Ratio) plot.Chart {
	from, to, counts := histogram(cases)
	if counts == nil {
		return plot.Chart{}
	}
	chart := plot.Chart{
		Title: "How the ratios of CPU time are distributed",
		X:     plot.Axis{Label: "CPU time, new ÷ old", Log: true}, Y: plot.Axis{Label: "cases"},
	}
	bars := plot.Line{Name: "cases with this ratio", Form: plot.Bars}
	highest := 0.0
	for i, n := range counts {
		bars.Points = append(bars.Points, plot.Point{X: math.Exp(from + (to-from)*(float64(i)+0.5)/ratioBins), Y: n})
		highest = max(highest, n)
	}
	rule := func(name string, x float64) plot.Line {
		return plot.Line{Name: name, Form: plot.Rule, Points: []plot.Point{{X: x, Y: 0}, {X: x, Y: highest}}}
	}
	chart.Lines = []plot.Line{bars}
	if together := rule("all together: "+ratioDigits(all.Value)+" × the old CPU time", all.Value); all.IsKnown() && chart.Draws(together.Points[0]) {
		chart.Lines = append(chart.Lines, together)
	}
	return chart
}

// histogram counts the logarithms of the ratios in bins of equal width.
func histogram(cases []cost.Case) (from, to float64, counts []float64) {
	var logs []float64
	for _, c := range cases {
		if l := math.Log(c.CPU); c.CPU > 0 && !math.IsInf(l, 0) && math.Abs(l) < 50 {
			logs = append(logs, l)
		}
	}
	if len(logs) == 0 {
		return 0, 0, nil
	}
	slices.Sort(logs)
	cut := int(ratioEnds * float64(len(logs)))
	reach := max(-logs[cut], logs[len(logs)-1-cut], 0.05) * 1.05
	from, to = -reach, reach
	counts = make([]float64, ratioBins)
	for _, l := range logs {
		i := int((l - from) / (to - from) * ratioBins)
		counts[max(0, min(i, ratioBins-1))]++
	}
	return from, to, counts
}

// load sums up, over the time of a run, how many runs an engine was asked for at once and how
// many commands ran there. It keeps a sum for each span of time. When there are too many spans,
// it doubles their length.
type load struct {
	from           time.Time
	width          time.Duration // length of a span
	asked, running [loadSpans]time.Duration
	used           int // sums, one for each span
	runs           int
}

const (
	loadSpans    = 96 // even
	loadWidthMin = 50 * time.Millisecond
	loadShown    = 20                   // smallest number of runs with a picture
	loadTimeMax  = 100 * 24 * time.Hour // longer times come from a wrong clock
)

// add counts a run, unless its result came from the engine's cache.
func (l *load) add(ev CaseRan) {
	r := ev.Engine
	end := ev.At.Sub(l.from)
	if r == nil || r.Cached || r.Asked <= 0 || r.Asked > end || end > loadTimeMax {
		return
	}
	if l.width == 0 {
		l.width = loadWidthMin
	}
	for end >= loadSpans*l.width {
		l.halve()
	}
	l.runs++
	began := end - r.Asked
	l.spread(&l.asked, began, end)
	if ran := min(r.Took, r.Asked); ran > 0 {
		start := end - ran
		if r.QueueKnown {
			start = min(start, began+r.Queued)
		}
		l.spread(&l.running, start, start+ran)
	}
}

// spread adds to each span the part of it that lies between two moments.
func (l *load) spread(to *[loadSpans]time.Duration, from, end time.Duration) {
	for i := int(from / l.width); i < loadSpans && time.Duration(i)*l.width < end; i++ {
		begins := time.Duration(i) * l.width
		to[i] += min(end, begins+l.width) - max(from, begins)
		l.used = max(l.used, i+1)
	}
}

// halve joins each two spans.
func (l *load) halve() {
	for _, sums := range []*[loadSpans]time.Duration{&l.asked, &l.running} {
		for i := range loadSpans / 2 {
			sums[i] = sums[2*i] + sums[2*i+1]
		}
		clear(sums[loadSpans/2:])
	}
	l.width *= 2
	l.used = (l.used + 1) / 2
}

// picture returns one svg element, or "" if there is too little to show.
func (l *load) picture() (string, error) {
	if l.runs < loadShown || l.used < 3 {
		return "", nil
	}
	line := func(name string, sums *[loadSpans]time.Duration) plot.Line {
		points := make([]plot.Point, l.used)
		for i := range points {
			points[i] = plot.Point{X: (time.Duration(i)*l.width + l.width/2).Seconds(), Y: float64(sums[i]) / float64(l.width)}
		}
		return plot.Line{Name: name, Points: points}
	}
	chart := plot.Chart{
		Title: "Runs on the engine at once", X: plot.Axis{Label: "time since muster began, s"}, Y: plot.Axis{Label: "runs"},
		Lines: []plot.Line{line("runs asked for", &l.asked), line("runs with their command running", &l.running)},
	}
	var b strings.Builder
	err := chart.SVG(&b)
	return b.String(), err
}
