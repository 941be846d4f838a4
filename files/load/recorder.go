package load

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Failure is a reason with the number of requests that failed for it.
type Failure struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Interval is a part of a load's duration.
type Interval struct {
	At, Length        time.Duration // since the load began
	Succeeded, Failed int64
	Latency           Latency
	Threads           int // at the end; 0 = not known
}

// PerSecond returns how many requests succeeded per second.
func (i Interval) PerSecond() float64 {
	return float64(i.Succeeded) / max(i.Length, time.Millisecond).Seconds()
}

// recorder counts the outcomes of requests and records the latencies of successful ones. The
// requesting goroutines write to shards. One goroutine at a time sums them up.
type recorder struct {
	shards []*shard
	spare  *hdrhistogram.Histogram // empty
	part   *hdrhistogram.Histogram // the present interval
	total  *hdrhistogram.Histogram

	counts

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

// counts are the counts of an interval, or of the whole load.
type counts struct {
	succeeded, failed, unreached int64
	reasons                      map[string]int64
}

const (
	shardsMax = 16

	reasonsMax   = 32 // distinct reasons
	otherReasons = "for other reasons"
)

func newRecorder(connections int) *recorder {
	r := &recorder{spare: newHistogram(), part: newHistogram(), total: newHistogram(), counts: counts{reasons: map[string]int64{}}}
	for range min(connections, shardsMax) {
		r.shards = append(r.shards, &shard{latencies: newHistogram(), counts: counts{reasons: map[string]int64{}}})
	}
	return r
}

func (r *recorder) shard(connection int) *shard { return r.shards[connection%len(r.shards)] }

// succeeded counts a request that took latency and concerned this many files.
func (s *shard) succeeded(latency time.Duration, files int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.counts.succeeded += files
	// RecordValue fails only outside of the bounds.
	_ = s.latencies.RecordValue(int64(min(max(latency, latencyMin), latencyMax)))
}

// failed counts a request that failed, with or without an answer.
func (s *shard) failed(reason string, answered bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.counts.failed++
	if !answered {
		s.unreached++
	}
	addReason(s.reasons, reason, 1)
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

func (r *recorder) last() Interval {
	if len(r.timeline) == 0 {
		return Interval{}
	}
	return r.timeline[len(r.timeline)-1]
}
