package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"muster/internal/readable"
)

// Result is the result of a load. Its latencies are those of successful requests.
type Result struct {
	Op          Op
	Protocol    Protocol
	URL         string
	Connections int
	Requests    int64 // requested number; for Clean the number of files found
	Size        int64 // bytes of each body
	Rate        float64

	Succeeded, Failed int64
	Failures          []Failure // the most frequent reason first
	Interrupted       bool      // Succeeded + Failed is less than Requests

	Wall        time.Duration // from the first request to the last answer
	Latency     Latency
	ThreadsPeak int // the server's most threads; 0 = not known

	Timeline []Interval

	unreached int64 // failed requests without an answer
}

// Failure is a reason with the number of requests that failed for it.
type Failure struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Latency holds percentiles, accurate to 0.1 %.
type Latency struct{ P50, P90, P99, P999, Max time.Duration }

// Interval is a part of a load's duration.
type Interval struct {
	At, Length        time.Duration // since the load began
	Succeeded, Failed int64
	Latency           Latency
	Threads           int // at the end; 0 = not known
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
		line("interrupted", "%s of %s were made", readable.Number(r.Succeeded+r.Failed), readable.Count(r.Requests, "request"))
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
	line("qps", "%s", readable.Number(int64(math.Round(r.PerSecond()))))
	if r.MBPerSecond() > 0 {
		line("MB/s", "%.1f", r.MBPerSecond())
	}
	if l := r.Latency; l.Max > 0 {
		line("latency", "p50 %s  p90 %s  p99 %s  p99.9 %s  max %s", ms(l.P50), ms(l.P90), ms(l.P99), ms(l.P999), ms(l.Max))
	}
	line("OS threads", "%s", r.threads())
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) title() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", r.Op)
	if r.Op == Clean {
		b.WriteString("files below " + Prefix)
	} else {
		b.WriteString(readable.Count(r.Requests, "request"))
	}
	if r.Op == Upload || r.Op == Download {
		b.WriteString(" of " + readable.Count(r.Size, "byte"))
	}
	fmt.Fprintf(&b, ", %s, %s", readable.Count(r.Connections, "connection"), r.Protocol)
	if r.Rate > 0 {
		fmt.Fprintf(&b, ", %g requests due each second", r.Rate)
	}
	return b.String()
}

func (r *Result) threads() string {
	if r.ThreadsPeak == 0 {
		return "not known (name --admin or --pid)"
	}
	return readable.Number(r.ThreadsPeak) + " at most"
}

// ms formats a time in milliseconds with three digits.
func ms(d time.Duration) string {
	v := millis(d)
	digits := 3
	for limit := 1.0; limit < 1000 && v >= limit; limit *= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f ms", max(digits, 0), v)
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

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
	ThreadsPeak *int      `json:"threads_peak"`
	Failures    []Failure `json:"failures"`
	Interrupted bool      `json:"interrupted"`
}

func (r *Result) line() line {
	l := line{
		Type: "load", Op: r.Op, Protocol: r.Protocol, Concurrency: r.Connections, Requests: r.Requests, Size: r.Size, Rate: r.Rate,
		Succeeded: r.Succeeded, Failed: r.Failed, WallMS: millis(r.Wall), PerSecond: r.PerSecond(), MBPerSecond: r.MBPerSecond(),
		P50: millis(r.Latency.P50), P90: millis(r.Latency.P90), P99: millis(r.Latency.P99), P999: millis(r.Latency.P999), Max: millis(r.Latency.Max),
		Failures: r.Failures, Interrupted: r.Interrupted,
	}
	if r.ThreadsPeak > 0 {
		l.ThreadsPeak = &r.ThreadsPeak
	}
	return l
}

// JSON writes the result as one line.
func (r *Result) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(r.line()) }

// recorder counts the outcomes of requests and records the latencies of successful ones. The
// requesting goroutines write to shards. One goroutine at a time sums them up.
type recorder struct {
	shards []*shard
	spare  *hdrhistogram.Histogram // empty
	part   *hdrhistogram.Histogram // the present interval
	total  *hdrhistogram.Histogram

	succeeded, failed, unreached int64
	reasons                      map[string]int64

	since    time.Time // the interval's beginning
	start    time.Time
	timeline []Interval
}

// shard records the outcomes of some connections. A histogram takes 200 KB, too much for each
// of 5,000 connections.
type shard struct {
	mutex     sync.Mutex
	latencies *hdrhistogram.Histogram
	counts
}

// counts are the counts of an interval.
type counts struct {
	succeeded, failed, unreached int64
	reasons                      map[string]int64
}

const (
	shardsMax     = 16
	latencyMin    = time.Microsecond
	latencyMax    = time.Hour
	latencyDigits = 3

	reasonsMax   = 32 // distinct reasons
	otherReasons = "for other reasons"
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(latencyMin), int64(latencyMax), latencyDigits)
}

func newRecorder(connections int) *recorder {
	r := &recorder{spare: newHistogram(), part: newHistogram(), total: newHistogram(), reasons: map[string]int64{}}
	for range min(connections, shardsMax) {
		r.shards = append(r.shards, &shard{latencies: newHistogram(), counts: counts{reasons: map[string]int64{}}})
	}
	return r
}

func (r *recorder) begin(at time.Time) { r.start, r.since = at, at }

// shard returns the shard of a connection.
func (r *recorder) shard(connection int) *shard { return r.shards[connection%len(r.shards)] }

// succeeded counts a request that took latency and concerned this many files.
func (s *shard) succeeded(latency time.Duration, files int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.counts.succeeded += files
	// RecordValue fails only outside of the bounds.
	_ = s.latencies.RecordValue(int64(min(max(latency, latencyMin), latencyMax)))
}

// failed counts a request that failed.
func (s *shard) failed(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.counts.failed++
	var none *connectionError
	if errors.As(err, &none) {
		s.unreached++
	}
	addReason(s.reasons, err.Error(), 1)
}

func addReason(reasons map[string]int64, reason string, n int64) {
	if _, known := reasons[reason]; !known && len(reasons) >= reasonsMax {
		reason = otherReasons
	}
	reasons[reason] += n
}

// drain returns the shard's records and empties the shard.
func (s *shard) drain(empty *hdrhistogram.Histogram) (*hdrhistogram.Histogram, counts) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	taken, c := s.latencies, s.counts
	s.latencies, s.counts = empty, counts{reasons: map[string]int64{}}
	return taken, c
}

// interval adds an interval with the records since the last one. Only one goroutine at a time
// may call it.
func (r *recorder) interval(now time.Time, threads int) {
	i := Interval{At: r.since.Sub(r.start), Length: now.Sub(r.since), Threads: threads}
	for _, s := range r.shards {
		taken, c := s.drain(r.spare)
		i.Succeeded += c.succeeded
		i.Failed += c.failed
		r.unreached += c.unreached
		for reason, n := range c.reasons {
			addReason(r.reasons, reason, n)
		}
		r.part.Merge(taken)
		taken.Reset()
		r.spare = taken
	}
	r.succeeded += i.Succeeded
	r.failed += i.Failed
	i.Latency = latencyOf(r.part)
	r.total.Merge(r.part)
	r.part.Reset()
	r.since = now
	r.timeline = append(r.timeline, i)
}

// failures returns the reasons, the most frequent first.
func (r *recorder) failures() []Failure {
	list := []Failure{}
	for reason, n := range r.reasons {
		list = append(list, Failure{reason, n})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	if h.TotalCount() == 0 {
		return Latency{}
	}
	at := func(percent float64) time.Duration { return time.Duration(h.ValueAtPercentile(percent)) }
	return Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: time.Duration(h.Max())}
}

// isReset reports whether an error means that the other end closed the connection.
func isReset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
