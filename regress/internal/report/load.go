package report

import (
	"strings"
	"time"

	"muster/internal/plot"
)

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
	loadSpans    = 96
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
		for i := range sums {
			both := time.Duration(0)
			if 2*i+1 < loadSpans {
				both = sums[2*i] + sums[2*i+1]
			}
			sums[i] = both
		}
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
		Title: "Runs on the engine at once", X: plot.Axis{Label: "seconds since muster began"}, Y: plot.Axis{Label: "runs"},
		Lines: []plot.Line{line("asked for", &l.asked), line("their command running", &l.running)},
	}
	var b strings.Builder
	err := chart.SVG(&b)
	return b.String(), err
}
