package report

import (
	"cmp"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// durationCounts counts runs by their durations.
type durationCounts struct {
	counts  [durationSteps]int
	runs    int
	slowest []timedRun // the longest runs first
	engine  bool
}

type timedRun struct {
	name  string
	took  time.Duration
	where string
}

const (
	durationSteps  = 24 // steps from below 1 ms, three to a factor of ten
	slowestMax     = 10
	durationsShown = 20 // smallest number of runs with a chart
)

func (d *durationCounts) add(caseName string, took time.Duration, r *outcome.EngineRun) {
	d.runs++
	d.engine = d.engine || r != nil
	step := 0
	for step < durationSteps-1 && took >= durationStep(step) {
		step++
	}
	d.counts[step]++
	if len(d.slowest) == slowestMax && took <= d.slowest[slowestMax-1].took {
		return
	}
	at, _ := slices.BinarySearchFunc(d.slowest, took, func(t timedRun, took time.Duration) int { return cmp.Compare(took, t.took) })
	d.slowest = slices.Insert(d.slowest, at, timedRun{caseName, took, EngineWords(r)})
	d.slowest = d.slowest[:min(len(d.slowest), slowestMax)]
}

// durationStep returns the end of a step: 1ms, 2ms, 5ms, 10ms …
func durationStep(step int) time.Duration {
	d := time.Millisecond * [...]time.Duration{1, 2, 5}[step%3]
	for range step / 3 {
		d *= 10
	}
	return d
}

// A durationChart shows the number of cases by duration.
type durationChart struct {
	Bars    []bar
	Width   int
	Height  int
	Caption string
	Took    string // what was timed
	Engine  bool
	Slowest []slowCase
}

type slowCase struct{ Name, Took, Where string }

// A bar of a chart, in the chart's units.
type bar struct {
	X, Y, Width, Height int
	Middle, Top, Foot   int // position of the words
	Count, Label        string
	Words               string
}

const (
	barWidth, barGap = 44, 8
	barHeight        = 110
	barFoot          = 22 // width of the label
	barHead          = 16 // width of the number
)

// chart returns nil if there are too few runs.
func (d *durationCounts) chart() *durationChart {
	if d.runs < durationsShown {
		return nil
	}
	first, last, most := durationSteps, 0, 0
	for i, n := range d.counts {
		if n > 0 {
			first, last, most = min(first, i), i, max(most, n)
		}
	}
	c := &durationChart{Height: barHead + barHeight + barFoot, Engine: d.engine, Took: "Wall time", Caption: "How many cases took how long, wall time of the first run"}
	if d.engine {
		c.Took, c.Caption = "Took", "How many cases took how long, the command alone in the first run; what was cached as it took when it ran"
	}
	for i := first; i <= last; i++ {
		n := d.counts[i]
		height := n * barHeight / most
		if n > 0 {
			height = max(height, 2)
		}
		x := (i - first) * (barWidth + barGap)
		c.Bars = append(c.Bars, bar{
			X: x, Y: barHead + barHeight - height, Width: barWidth, Height: height, Middle: x + barWidth/2, Top: barHead + barHeight - height - 4, Foot: barHead + barHeight + 15,
			Count: readable.Number(n), Label: "<" + readable.Duration(durationStep(i)), Words: readable.Count(n, "case") + " took " + stepWords(i),
		})
		c.Width = x + barWidth + barGap
	}
	for _, t := range d.slowest {
		c.Slowest = append(c.Slowest, slowCase{name.Print(t.name), readable.Duration(t.took), t.where})
	}
	return c
}

func stepWords(step int) string {
	if step == 0 {
		return "less than " + readable.Duration(durationStep(0))
	}
	return readable.Duration(durationStep(step-1)) + " to " + readable.Duration(durationStep(step))
}
