package load

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// recorder counts what came of the requests, and how long those took that succeeded. The
// goroutines that make them write to shards; one at a time looks at those and sums up.
type recorder struct {
	shards []*shard
	spare  *hdrhistogram.Histogram // empty
	part   *hdrhistogram.Histogram // of an interval
	total  *hdrhistogram.Histogram

	succeeded, failed, unreached int64
	reasons                      map[string]int64

	since    time.Time // begin of the interval
	start    time.Time
	timeline []Interval
}

// shard is a part of what came, of some connections: a histogram takes 200 KB, too much
// for each of 5,000 of them.
type shard struct {
	mutex     sync.Mutex
	latencies *hdrhistogram.Histogram
	counts
}

// counts are those of an interval.
type counts struct {
	succeeded, failed, unreached int64
	reasons                      map[string]int64
}

const (
	shardsMax     = 16
	latencyMin    = time.Microsecond
	latencyMax    = time.Hour
	latencyDigits = 3

	reasonsMax = 32 // that are told apart
	otherwise  = "for other reasons"
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

// shard returns that of a connection.
func (r *recorder) shard(connection int) *shard { return r.shards[connection%len(r.shards)] }

// succeeded counts a request that took that long and concerned so many files.
func (s *shard) succeeded(latency time.Duration, files int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.counts.succeeded += files
	// It fails beyond the bounds only, which it is held within here.
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
		reason = otherwise
	}
	reasons[reason] += n
}

// take returns what the shard has, and empties it.
func (s *shard) take(empty *hdrhistogram.Histogram) (*hdrhistogram.Histogram, counts) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	taken, c := s.latencies, s.counts
	s.latencies, s.counts = empty, counts{reasons: map[string]int64{}}
	return taken, c
}

// interval sums up what came since the last one. One goroutine may be in it at a time.
func (r *recorder) interval(now time.Time, threads int) {
	i := Interval{At: r.since.Sub(r.start), Length: now.Sub(r.since), Threads: threads}
	for _, s := range r.shards {
		taken, c := s.take(r.spare)
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

// failures are the reasons, the most frequent first.
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
