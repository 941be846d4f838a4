package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// staller answers after a millisecond, but once after long.
type staller struct {
	stallAt int
	stall   time.Duration
}

func (s *staller) reach(context.Context) error { return nil }
func (s *staller) connect() link               { return s }
func (s *staller) close()                      {}

func (s *staller) do(_ context.Context, j *job) error {
	wait := time.Millisecond
	if j.number == s.stallAt {
		wait = s.stall
	}
	<-time.After(wait)
	return nil
}

// stalled is a second of requests, one each 10 ms, over one connection; the server stalls
// for half of that second.
func stalled(rate float64) (r *Result) {
	o := Options{Op: Exist, Connections: 1, Requests: 100, Rate: rate}
	t := &staller{stallAt: 50, stall: 500 * time.Millisecond}
	return newRun(o, t, &threadWatch{cancel: func() {}}).do(context.Background())
}

// With a rate, a stall shows in the latencies of all requests that were due meanwhile, and not
// only of the request that was answered late.
func TestRateHasNoOmission(t *testing.T) {
	near := func(name string, got, want time.Duration) {
		t.Helper()
		if got < want*99/100 || got > want*101/100 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := stalled(100)
		// Request 50 takes 500 ms; of the 49 after it each was due 10 ms later, and is made
		// a millisecond after the one before.
		near("p50", r.Latency.P50, time.Millisecond)
		near("p90", r.Latency.P90, 410*time.Millisecond)
		near("p99", r.Latency.P99, 491*time.Millisecond)
		near("max", r.Latency.Max, 500*time.Millisecond)
		near("the wall", r.Wall, 500*time.Millisecond+500*time.Millisecond+49*time.Millisecond)
	})
	synctest.Test(t, func(t *testing.T) {
		r := stalled(0)
		near("p90 without a rate", r.Latency.P90, time.Millisecond)
		near("p99 without a rate", r.Latency.P99, time.Millisecond)
		near("max without a rate", r.Latency.Max, 500*time.Millisecond)
		near("the wall without a rate", r.Wall, 599*time.Millisecond)
	})
}

// The timeline covers the run without gaps and counts every request once.
func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Op: Exist, Connections: 3, Requests: 200, Rate: 20}
		r := newRun(o, &staller{stallAt: -1}, &threadWatch{cancel: func() {}}).do(context.Background())
		var end time.Duration
		var n int64
		for _, i := range r.Timeline {
			if i.At != end {
				t.Errorf("an interval begins at %v, and the one before ends at %v", i.At, end)
			}
			end = i.At + i.Length
			n += i.Succeeded
		}
		if n != 200 || end != r.Wall {
			t.Errorf("%d requests up to %v, want 200 up to %v", n, end, r.Wall)
		}
		if len(r.Timeline) != 25 { // 20 quarters of a second, and 5 seconds
			t.Errorf("%d intervals in %v", len(r.Timeline), r.Wall)
		}
	})
}

// With a duration the requests are repeated, until its end or until all that were due are made.
func TestDuration(t *testing.T) {
	for rate, want := range map[float64]int64{0: 1000, 100: 100, 1e-12: 1, 5e-324: 1} {
		synctest.Test(t, func(t *testing.T) {
			o := Options{Op: Exist, Connections: 1, Requests: 3, Rate: rate, Duration: time.Second}
			s := &staller{stallAt: -1}
			if rate == 100 {
				s = &staller{stallAt: 2, stall: 10 * time.Millisecond}
			}
			r := newRun(o, s, &threadWatch{cancel: func() {}}).do(context.Background())
			if r.Succeeded != want || r.Requests != want || r.Files != 3 || r.Interrupted {
				t.Errorf("at a rate of %g %d of %d requests for %d files succeeded, want %d for 3; interrupted: %v", rate, r.Succeeded, r.Requests, r.Files, want, r.Interrupted)
			}
		})
	}
}
