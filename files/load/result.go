package load

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"muster/internal/readable"
)

// Result is the result of a load. Its latencies are those of successful requests.
type Result struct {
	Op          Op
	Protocol    Protocol
	URL         string
	Connections int
	Requests    int64 // requested number; for Clean and with a Duration the number made
	Size        int64 // bytes of each body
	Rate        float64

	Duration time.Duration // requested; 0 = a number of requests
	Files    int64         // with a Duration the number of different files

	Succeeded, Failed int64
	Failures          []Failure // the most frequent reason first
	Interrupted       bool      // Succeeded + Failed is less than Requests

	Wall        time.Duration // from the first request to the last answer
	Latency     Latency
	Histogram   []Bucket // with the limits 1, 2 and 5 of each decade
	ThreadsPeak int      // the server's most threads; 0 = not known

	Timeline []Interval

	fine      []Bucket // ten in each decade
	unreached int64    // failed requests without an answer
}

// PerSecond returns how many requests succeeded per second.
func (r *Result) PerSecond() float64 {
	if r.Wall <= 0 {
		return 0
	}
	return float64(r.Succeeded) / r.Wall.Seconds()
}

// MBPerSecond returns how many million bytes of bodies were transferred per second; 0 for
// operations without bodies.
func (r *Result) MBPerSecond() float64 {
	if r.Op != Upload && r.Op != Download {
		return 0
	}
	return r.PerSecond() * float64(r.Size) / 1e6
}

// failuresShown is how many reasons the text lists.
const failuresShown = 5

// Text writes the result for people.
func (r *Result) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.title())
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	if r.Interrupted {
		line("interrupted", "%s", r.interrupted())
	}
	line("successes", "%s", readable.Number(r.Succeeded))
	line("failures", "%s", readable.Number(r.Failed))
	for i, f := range r.Failures {
		if i == failuresShown {
			line("", "and %d more reasons", len(r.Failures)-i)
			break
		}
		line("", "%s: %s", readable.Number(f.Count), f.Reason)
	}
	line("cost", "%s ms", readable.Number(r.Wall.Milliseconds()))
	line("elapsed", "%s", elapsed(r.Wall))
	line("qps", "%s", readable.Number(int64(math.Round(r.PerSecond()))))
	if r.MBPerSecond() > 0 {
		line("MB/s", "%.1f", r.MBPerSecond())
	}
	if l := r.Latency; l.Max > 0 {
		line("latency", "p50 %s  p90 %s  p99 %s  p99.9 %s  max %s", Milliseconds(l.P50), Milliseconds(l.P90), Milliseconds(l.P99), Milliseconds(l.P999), Milliseconds(l.Max))
	}
	line("OS threads", "%s", r.threads())
	if len(r.Histogram) > 0 {
		b.WriteString("\n" + histogramText(r.Histogram))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) title() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", r.Op)
	switch {
	case r.Op == Clean:
		b.WriteString("files below " + Prefix)
	case r.Duration > 0:
		b.WriteString("requests for " + r.length())
		if r.Op != Bench {
			b.WriteString(", " + readable.Count(r.Files, "file"))
		}
	default:
		b.WriteString(readable.Count(r.Requests, "request"))
	}
	if r.Op == Upload || r.Op == Download {
		b.WriteString(" of " + readable.BinarySize(r.Size))
	}
	fmt.Fprintf(&b, ", %s, %s", readable.Count(r.Connections, "connection"), r.Protocol)
	if r.Rate > 0 {
		fmt.Fprintf(&b, ", %g requests due each second", r.Rate)
	}
	return b.String()
}

// interrupted reports how much of an interrupted load was done.
func (r *Result) interrupted() string {
	made := r.Succeeded + r.Failed
	if r.Duration > 0 {
		return "after " + elapsed(r.Wall) + " of " + r.length()
	}
	return readable.Number(made) + " of " + readable.Count(r.Requests, "request") + " were made"
}

// length returns the requested duration as text.
func (r *Result) length() string {
	if r.Duration%time.Second == 0 {
		return readable.WholeSeconds(r.Duration)
	}
	return readable.Duration(r.Duration)
}

func (r *Result) threads() string {
	if r.ThreadsPeak == 0 {
		return "not known (name --admin or --pid)"
	}
	return readable.Number(r.ThreadsPeak) + " at most"
}

// elapsed formats a duration for people, with three digits.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return Milliseconds(d)
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return readable.Duration(d)
}

// line is the JSON of a result.
type line struct {
	Type        string    `json:"type"`
	Engine      string    `json:"engine,omitempty"`
	Round       int       `json:"round,omitempty"`
	Op          Op        `json:"op"`
	Protocol    Protocol  `json:"protocol"`
	Concurrency int       `json:"concurrency"`
	Requests    int64     `json:"requests"`
	Size        int64     `json:"size"`
	Rate        float64   `json:"rate,omitempty"`
	DurationMS  float64   `json:"duration_ms,omitempty"`
	Files       int64     `json:"files,omitempty"`
	Succeeded   int64     `json:"succeeded"`
	Failed      int64     `json:"failed"`
	WallMS      float64   `json:"wall_ms"`
	PerSecond   float64   `json:"requests_per_s"`
	MBPerSecond float64   `json:"mb_per_s"`
	P50         float64   `json:"p50_ms"`
	P90         float64   `json:"p90_ms"`
	P99         float64   `json:"p99_ms"`
	P999        float64   `json:"p999_ms"`
	Max         float64   `json:"max_ms"`
	Histogram   []bucket  `json:"histogram"`
	ThreadsPeak *int      `json:"threads_peak"`
	Failures    []Failure `json:"failures"`
	Interrupted bool      `json:"interrupted"`
}

// bucket is the JSON of a Bucket.
type bucket struct {
	UpTo     float64 `json:"up_to_ms"`
	Requests int64   `json:"requests"`
}

func (r *Result) line() line {
	l := line{
		Type: "load", Op: r.Op, Protocol: r.Protocol, Concurrency: r.Connections, Requests: r.Requests, Size: r.Size, Rate: r.Rate,
		Succeeded: r.Succeeded, Failed: r.Failed, WallMS: millis(r.Wall), PerSecond: r.PerSecond(), MBPerSecond: r.MBPerSecond(),
		P50: millis(r.Latency.P50), P90: millis(r.Latency.P90), P99: millis(r.Latency.P99), P999: millis(r.Latency.P999), Max: millis(r.Latency.Max),
		Histogram: []bucket{}, Failures: r.Failures, Interrupted: r.Interrupted, DurationMS: millis(r.Duration), Files: r.Files,
	}
	for _, b := range r.Histogram {
		l.Histogram = append(l.Histogram, bucket{millis(b.UpTo), b.Requests})
	}
	if r.ThreadsPeak > 0 {
		l.ThreadsPeak = &r.ThreadsPeak
	}
	return l
}

// JSON writes the result as one line.
func (r *Result) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(r.line()) }
