package reapi

import (
	"testing"
	"time"
)

// A result waits for others only where some are to be expected, and never long.
func TestCompanyWait(t *testing.T) {
	for _, c := range []struct {
		inFlight int
		resp     response
		want     time.Duration
	}{
		{64, response{asked: 800 * time.Millisecond}, 100 * time.Millisecond},
		{64, response{asked: time.Hour}, 250 * time.Millisecond},
		{64, response{asked: time.Second, cached: true}, 0},
		{1, response{asked: time.Second}, 0},
		{15, response{asked: time.Second}, 0},
	} {
		e := &Engine{}
		e.stages.inFlight = c.inFlight
		run := &actionRun{engine: e}
		if got := run.companyWait(c.resp); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
