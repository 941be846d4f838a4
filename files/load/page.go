package load

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"muster/internal/readable"
	"time"
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

// course returns a value at the middle of each interval. It omits a short rest at the end if
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
