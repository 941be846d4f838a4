package report

import (
	"math/bits"
	"strconv"
	"time"

	"muster/internal/readable"
)

// engineTally follows a run on an engine.
type engineTally struct {
	latest Engine
	known  bool      // whether latest is set
	since  time.Time // preparation before the first case

	cached, made int           // ended runs of this pass
	ofMade       time.Duration // time that the uncached of these should have taken
	asked        time.Duration // time from request to result of the uncached runs, summed up
	samples      window        // number of uncached runs
	recent       uint64        // the last runs, one bit each: 1 = not cached
	remembered   int           // number of bits in recent
}

func (e *engineTally) handle(ev Engine) {
	if !e.known || ev.Doing != e.latest.Doing {
		e.since = ev.At
	}
	e.latest, e.known = ev, true
}

// begin starts a pass.
func (e *engineTally) begin() {
	*e = engineTally{latest: e.latest, known: e.known, since: e.since}
}

func (e *engineTally) addRun(ev CaseRan) {
	r := ev.Engine
	if r == nil {
		return
	}
	e.recent <<= 1
	e.remembered = min(e.remembered+1, 64)
	if r.Cached {
		e.cached++
		return
	}
	if e.made == 0 {
		e.samples.add(sample{at: ev.At.Add(-r.Asked)})
	}
	e.recent |= 1
	e.made++
	e.asked += r.Asked
	e.ofMade += ev.Expected
	e.samples.add(sample{at: ev.At, done: e.made, expected: e.ofMade})
}

// unsure reports whether it is too early for an estimate: no run has ended, or too few, or no
// more than the first requests. The first of many parallel runs ends late, and the others end
// soon after it.
func (e *engineTally) unsure(now time.Time) bool {
	if e.made < windowRunsMin {
		return e.cached < mostlyCached*(e.made+e.latest.InFlight)
	}
	return now.Sub(e.samples.first.at) < 2*e.asked/time.Duration(e.made)
}

// mostlyCached is the number of cached runs for each uncached one above which the uncached ones
// count for little.
const mostlyCached = 10

// remaining estimates, in seconds, the time for a number of further runs that should take the
// expected time. Cached runs take almost no time, so the rate of all runs says little.
// remaining takes the rate of uncached runs, and the recent share of uncached runs.
func (e *engineTally) remaining(now time.Time, left int, expected time.Duration) (seconds float64, ok bool) {
	if e.made == 0 || e.recent == 0 {
		return 0, false
	}
	share := float64(bits.OnesCount64(e.recent)) / float64(e.remembered)
	from := e.samples.base(e.made)
	elapsed := now.Sub(from.at).Seconds()
	if elapsed <= 0 || e.made == from.done {
		return 0, false
	}
	if of := e.ofMade - from.expected; expected > 0 && of > 0 {
		return share * float64(expected) / float64(of) * elapsed, true
	}
	return share * float64(left) / float64(e.made-from.done) * elapsed, true
}

// doing returns the preparation before the first case, or "" once cases run.
func (e *engineTally) doing(now time.Time) string {
	if e.latest.Doing == "" {
		return ""
	}
	text := readable.Line(e.latest.Doing)
	if e.latest.Sent > 0 {
		text += fieldGap + "sent " + readable.Size(e.latest.Sent)
	}
	return text + fieldGap + readable.Duration(now.Sub(e.since))
}

// flight describes the requests that have not ended. The engine reports them from time to time,
// but ended runs are known at once, so flight shows no more than the runs that are left.
func (e *engineTally) flight(left int) string {
	asked := max(0, min(e.latest.InFlight, left))
	text := readable.Number(asked) + " in flight"
	if q, r := e.latest.Queued, e.latest.Running; q+r > 0 && q+r <= asked {
		text += " (" + readable.Number(q) + " queued, " + readable.Number(r) + " running)"
	}
	return text
}

// share describes how many runs of this pass were cached, or returns "" if none was.
func (e *engineTally) share() string {
	if e.cached == 0 {
		return ""
	}
	percent := 100 * e.cached / (e.cached + e.made)
	return strconv.Itoa(percent) + " % cached"
}
