package report

import (
	"math/bits"
	"strconv"
	"time"

	"muster/internal/readable"
)

// engineTally follows what a run does on an engine.
type engineTally struct {
	latest Engine
	known  bool      // latest is something
	since  time.Time // what is done before the first case was begun

	cached, made int           // runs of this pass that are over
	ofMade       time.Duration // how long those that were made should have taken
	asked        time.Duration // from asking for each of those to its result, together
	samples      window        // of those
	recent       uint64        // the last runs, one bit each: 1 was made
	remembered   int           // bits of recent
}

func (e *engineTally) handle(ev Engine) {
	if !e.known || ev.Doing != e.latest.Doing {
		e.since = ev.At
	}
	e.latest, e.known = ev, true
}

// begin is called for each pass.
func (e *engineTally) begin() {
	*e = engineTally{latest: e.latest, known: e.known, since: e.since}
}

func (e *engineTally) ran(ev CaseRan) {
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

// unsure reports whether it is too early to tell how long it takes: of what is under way on
// the engine nothing has ended, or too little, or no more than what was asked for at first.
// Of as many as run at once the first ends late, and the others at once with it.
func (e *engineTally) unsure(now time.Time) bool {
	if e.made < windowRunsMin {
		return e.cached < mostlyCached*(e.made+e.latest.InFlight)
	}
	return now.Sub(e.samples.first.at) < 2*e.asked/time.Duration(e.made)
}

// mostlyCached is how many runs were cached for each other, where those others count for little.
const mostlyCached = 10

// remaining estimates, in seconds, how long so many more runs take, which should have taken
// so long. Cached ones take next to nothing, so that of both kinds together the rate says
// little: it is that of the runs that are made, and as many will be as of late were.
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

// doing says what is done before the first case, "" once cases run.
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

// flight says how many runs the engine was asked for that have not ended. That is told every
// now and then, and the runs that are left at once: more than those are never shown.
func (e *engineTally) flight(left int) string {
	asked := max(0, min(e.latest.InFlight, left))
	text := readable.Number(asked) + " in flight"
	if q, r := e.latest.Queued, e.latest.Running; q+r > 0 && q+r <= asked {
		text += " (" + readable.Number(q) + " queued, " + readable.Number(r) + " running)"
	}
	return text
}

// share says how many runs of this pass were cached, "" for none.
func (e *engineTally) share() string {
	if e.cached == 0 {
		return ""
	}
	percent := 100 * e.cached / (e.cached + e.made)
	return strconv.Itoa(percent) + " % cached"
}
