package load

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"muster/internal/readable"
)

//go:embed page.html
var pageMarkup string

// page is the content of an HTML page.
type page struct {
	Title  string
	Facts  []fact
	Tables []table
	Charts []drawing
	Notes  []string
}

type fact struct{ Name, Value string }

func (p page) write(w io.Writer) error {
	t, err := template.New("page").Parse(pageMarkup)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// HTML writes the result and its course as one self-contained page.
func (r *Result) HTML(w io.Writer) error {
	p := page{Title: "muster load " + string(r.Op)}
	p.fact("Load", r.title())
	p.fact("Server", r.URL)
	if r.Interrupted {
		p.fact("Interrupted", readable.Number(r.Succeeded+r.Failed)+" of "+readable.Count(r.Requests, "request")+" were made")
	}
	p.fact("Successes", readable.Number(r.Succeeded))
	p.fact("Failures", readable.Number(r.Failed))
	p.fact("Cost", readable.Number(r.Wall.Milliseconds())+" ms")
	p.fact("Requests each second", readable.Number(int64(math.Round(r.PerSecond()))))
	if r.MBPerSecond() > 0 {
		p.fact("MB/s", fmt.Sprintf("%.1f", r.MBPerSecond()))
	}
	p.fact("OS threads of the server", r.threads())
	l := r.Latency
	p.Tables = append(p.Tables, table{"Latency", []string{"p50", "p90", "p99", "p99.9", "max"}, [][]string{{ms(l.P50), ms(l.P90), ms(l.P99), ms(l.P999), ms(l.Max)}}})
	if len(r.Failures) > 0 {
		t := table{"Why requests failed", []string{"requests", "reason"}, nil}
		for _, f := range r.Failures {
			t.Rows = append(t.Rows, []string{readable.Number(f.Count), f.Reason})
		}
		p.Tables = append(p.Tables, t)
	}
	p.chart(chart{Title: "Latency in ms", Log: true, Series: []series{
		r.timeSeries("p50", func(i Interval) float64 { return millis(i.Latency.P50) }),
		r.timeSeries("p99", func(i Interval) float64 { return millis(i.Latency.P99) }),
		r.timeSeries("max", func(i Interval) float64 { return millis(i.Latency.Max) }),
	}})
	p.chart(chart{Title: "OS threads of the server", Series: []series{r.timeSeries("threads", threadsAt)}})
	p.chart(chart{Title: "Requests each second", Series: []series{r.timeSeries("successes", perSecondAt), r.timeSeries("failures", func(i Interval) float64 {
		return float64(i.Failed) / max(i.Length, time.Millisecond).Seconds()
	})}})
	return p.write(w)
}

func threadsAt(i Interval) float64 { return float64(i.Threads) }

func perSecondAt(i Interval) float64 {
	return float64(i.Succeeded) / max(i.Length, time.Millisecond).Seconds()
}

// timeSeries returns a value at the middle of each interval. It omits a short rest at the end if
// there are other intervals.
func (r *Result) timeSeries(name string, value func(Interval) float64) series {
	s := series{Name: name}
	for n, i := range r.Timeline {
		if n > 0 && n == len(r.Timeline)-1 && i.Length < intervalFirst/2 {
			break
		}
		s.Points = append(s.Points, point{(i.At + i.Length/2).Seconds(), value(i)})
	}
	if len(s.Points) == 1 { // which would be no line
		first, v := r.Timeline[0], s.Points[0].y
		s.Points = []point{{first.At.Seconds(), v}, {(first.At + first.Length).Seconds(), v}}
	}
	return s
}

// HTML writes the tables, and the course of each engine's last load, as one page.
func (c *Comparison) HTML(w io.Writer) error {
	p := page{Title: "muster load engines", Tables: c.tables(), Notes: c.notes()}
	var ops []Op
	last := map[Op]map[string]*Result{}
	var engines []string
	for _, run := range c.Runs {
		op := run.Result.Op
		if last[op] == nil {
			last[op] = map[string]*Result{}
			ops = append(ops, op)
		}
		if run.Round == 1 && op == ops[0] {
			engines = append(engines, run.Engine)
		}
		last[op][run.Engine] = run.Result
	}
	for _, op := range ops {
		threads := chart{Title: fmt.Sprintf("OS threads, %s, last round", op)}
		slowest := chart{Title: fmt.Sprintf("p99 in ms, %s, last round", op), Log: true}
		for _, engine := range engines {
			if r := last[op][engine]; r != nil {
				threads.Series = append(threads.Series, r.timeSeries(engine, threadsAt))
				slowest.Series = append(slowest.Series, r.timeSeries(engine, func(i Interval) float64 { return millis(i.Latency.P99) }))
			}
		}
		p.chart(threads)
		p.chart(slowest)
	}
	return p.write(w)
}

func (p *page) fact(name, value string) { p.Facts = append(p.Facts, fact{name, value}) }

func (p *page) chart(c chart) {
	if d, ok := c.draw(); ok {
		p.Charts = append(p.Charts, d)
	}
}

// chart shows values over the time of a load.
type chart struct {
	Title  string
	Log    bool // the values have a logarithmic scale, without zeros
	Series []series
}

type series struct {
	Name   string
	Points []point
}

// point is a value at a time, in seconds.
type point struct{ x, y float64 }

// drawing is a chart in units of its picture.
type drawing struct {
	Title      string
	Lines      []polyline
	X, Y       []tick
	Width      float64
	Height     float64
	Left, Foot float64
}

type polyline struct {
	Class, Name, Points string
}

type tick struct {
	At   float64
	Text string
}

// The size of the picture, and the area between the scales.
const (
	chartWidth, chartHeight = 720, 260
	chartLeft, chartRight   = 64, 712
	chartTop, chartFoot     = 10, 228

	pointsMax  = 500 // points of a line: more cannot be distinguished
	coloursMax = 5
)

// draw returns the drawing. ok is false if it would be empty.
func (c chart) draw() (d drawing, ok bool) {
	var right, top float64
	low := math.Inf(1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			right, top = max(right, p.x), max(top, p.y)
			if p.y > 0 {
				low = min(low, p.y)
			}
		}
	}
	if right <= 0 || top <= 0 {
		return d, false
	}
	d = drawing{Title: c.Title, Width: chartWidth, Height: chartHeight, Left: chartLeft, Foot: chartFoot}
	x := func(v float64) float64 { return chartLeft + v/right*(chartRight-chartLeft) }
	y, yTicks := linear(top)
	if c.Log {
		y, yTicks = logarithmic(low, top)
	}
	d.Y = yTicks
	for v, step := 0.0, round125(right/8); v <= right*1.0001; v += step {
		d.X = append(d.X, tick{x(v), fmt.Sprintf("%.4g s", v)})
	}
	for i, s := range c.Series {
		l := polyline{Class: fmt.Sprintf("line%d", i%coloursMax), Name: s.Name}
		var b strings.Builder
		for _, p := range thinOut(s.Points) {
			if p.y > 0 || !c.Log {
				fmt.Fprintf(&b, "%.1f,%.1f ", x(p.x), y(p.y))
			}
		}
		if len(s.Points) == 1 && b.Len() > 0 { // a line needs two points
			fmt.Fprintf(&b, "%.1f,%.1f", x(s.Points[0].x)-dash, y(s.Points[0].y))
		}
		l.Points = strings.TrimSpace(b.String())
		d.Lines = append(d.Lines, l)
	}
	return d, true
}

// dash is the length of the line that shows a single point.
const dash = 6

// linear returns a scale from 0 to a value.
func linear(top float64) (func(float64) float64, []tick) {
	step := round125(top / 5)
	top = math.Ceil(top/step) * step
	y := func(v float64) float64 { return chartFoot - v/top*(chartFoot-chartTop) }
	var ticks []tick
	for v := 0.0; v <= top*1.0001; v += step {
		ticks = append(ticks, tick{y(v), fmt.Sprintf("%.6g", v)})
	}
	return y, ticks
}

// logarithmic returns a scale of powers of ten around two values.
func logarithmic(low, top float64) (func(float64) float64, []tick) {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(top))
	last = max(last, first+1)
	y := func(v float64) float64 {
		return chartFoot - (math.Log10(v)-first)/(last-first)*(chartFoot-chartTop)
	}
	var ticks []tick
	for e := first; e <= last; e++ {
		v := math.Pow(10, e)
		ticks = append(ticks, tick{y(v), fmt.Sprintf("%g", v)})
	}
	return y, ticks
}

// round125 returns the least of 1, 2, 5, 10, 20 … that is not below v.
func round125(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*power*1.0001 {
			return f * power
		}
	}
	return 10 * power
}

// thinOut keeps the highest of neighbouring points if there are too many to distinguish.
func thinOut(list []point) []point {
	n := (len(list) + pointsMax - 1) / pointsMax
	if n < 2 {
		return list
	}
	var few []point
	for i, p := range list {
		if i%n == 0 {
			few = append(few, p)
		} else if last := &few[len(few)-1]; p.y > last.y {
			last.y = p.y
		}
	}
	return few
}
