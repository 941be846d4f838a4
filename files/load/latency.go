package load

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"muster/internal/plot"
	"muster/internal/readable"
)

// Latency holds percentiles, accurate to 0.1 %.
type Latency struct{ P50, P90, P99, P999, Max time.Duration }

func latencyOf(h *hdrhistogram.Histogram) Latency {
	if h.TotalCount() == 0 {
		return Latency{}
	}
	at := func(percent float64) time.Duration { return time.Duration(h.ValueAtPercentile(percent)) }
	return Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: time.Duration(h.Max())}
}

const (
	latencyMin    = time.Microsecond
	latencyMax    = time.Hour
	latencyDigits = 3
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(latencyMin), int64(latencyMax), latencyDigits)
}

// Milliseconds formats a time in milliseconds with three digits.
func Milliseconds(d time.Duration) string {
	v := millis(d)
	digits := 3
	for limit := 1.0; limit < 1000 && v >= limit; limit *= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f ms", max(digits, 0), v)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Bucket counts the requests with a latency between the previous limit and its own.
type Bucket struct {
	UpTo     time.Duration
	Requests int64
}

// Limits of buckets in a decade, in hundredths of its beginning.
var (
	coarseLimits = []time.Duration{100, 200, 500}
	fineLimits   = []time.Duration{100, 125, 160, 200, 250, 315, 400, 500, 630, 800}
)

// bucketsOf counts latencies in buckets, from the first to the last that has any.
func bucketsOf(h *hdrhistogram.Histogram, limits []time.Duration) (list []Bucket) {
	bars := h.Distribution()
	filled := 0
	for decade := latencyMin; decade <= latencyMax; decade *= 10 {
		for _, limit := range limits {
			b := Bucket{UpTo: decade * limit / 100}
			for len(bars) > 0 && time.Duration(bars[0].From) <= b.UpTo {
				b.Requests += bars[0].Count
				bars = bars[1:]
			}
			if b.Requests == 0 && filled == 0 {
				continue
			}
			list = append(list, b)
			if b.Requests > 0 {
				filled = len(list)
			}
		}
	}
	return list[:filled]
}

// barMax is the length of the longest bar, in columns.
const barMax = 40

// histogramText returns a line for each bucket, with a bar.
func histogramText(list []Bucket) string {
	var all, most int64
	for _, b := range list {
		all, most = all+b.Requests, max(most, b.Requests)
	}
	var text strings.Builder
	tab := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "latency\trequests\t")
	for _, b := range list {
		bar := strings.Repeat("█", int(math.Round(barMax*float64(b.Requests)/float64(most))))
		fmt.Fprintf(tab, "up to %s\t%s\t%.1f %%\t  %s\n", limitText(b.UpTo), readable.Number(b.Requests), 100*float64(b.Requests)/float64(all), bar)
	}
	_ = tab.Flush() // a strings.Builder does not fail
	var lines strings.Builder
	for line := range strings.Lines(text.String()) {
		lines.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return lines.String()
}

// limitText returns a bucket's limit, which is a round number.
func limitText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// histogramChart draws a bar for each bucket, in its middle. An empty bucket at both ends keeps
// the bars off the axis.
func histogramChart(list []Bucket) []plot.Chart {
	if len(list) == 0 {
		return nil
	}
	bars := plot.Line{Name: "requests", Form: plot.Bars}
	ratio := math.Pow(10, 1/float64(len(fineLimits)))
	bar := func(upTo float64, requests int64) {
		bars.Points = append(bars.Points, plot.Point{X: upTo / math.Sqrt(ratio), Y: float64(requests)})
	}
	bar(millis(list[0].UpTo)/ratio, 0)
	for _, b := range list {
		bar(millis(b.UpTo), b.Requests)
	}
	bar(millis(list[len(list)-1].UpTo)*ratio, 0)
	return plot.Chart{Title: "How many requests took how long", X: plot.Axis{Label: "ms", Log: true}, Y: plot.Axis{Label: "requests"}, Lines: []plot.Line{bars}}.Drawable()
}
