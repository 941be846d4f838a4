package report

import (
	"io"
	"strconv"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/name"
	"muster/regress/internal/palette"
)

// newProgress returns a reporter that shows a run in progress on the console's Err, and the
// writer for results. If one terminal has both, results are written above the progress line.
func newProgress(c Console, v Verbosity) (Reporter, io.Writer) {
	switch {
	case v == Quiet:
		return &warnings{c.Err}, c.Out
	case c.Err.Terminal:
		l := &liveProgress{console: c}
		if c.Shared {
			return l, l
		}
		return l, c.Out
	}
	return &counterLines{err: c.Err}, c.Out
}

// warnings shows warnings alone.
type warnings struct{ err Stream }

func (w *warnings) Handle(ev Event) error {
	if note, ok := ev.(Note); ok && note.Warning {
		return writeNote(w.err, note)
	}
	return nil
}

func (w *warnings) Close() error { return nil }

// writeNote writes a note to a stream, with control characters made visible.
func writeNote(to Stream, n Note) error {
	_, err := io.WriteString(to, noteText(n, palette.Painter(to.Colour)))
	return err
}

func noteText(n Note, p palette.Painter) string {
	if n.Slow != "" {
		return p.Paint(palette.Yellow, "SLOW") + " [> " + readable.Duration(n.Over) + "] " + name.Print(n.Slow) + "\n"
	}
	if n.Warning {
		return p.Paint(palette.Yellow, "warning:") + " " + readable.Text(n.Text) + "\n"
	}
	return "note: " + readable.Text(n.Text) + "\n"
}

// tally follows a run: how much of the present pass is done, how fast, and what is running. It
// takes all times from the events.
type tally struct {
	command string
	counted bool // Started came; reduce and others emit only Engine events
	pass    int
	done    int
	total   int
	differs int
	costs   bool          // the pass measures the cost
	cpu     time.Duration // sum over the ended runs of this pass
	// Expected times of this pass, for all runs and for the ended ones. Long cases run first,
	// so an estimate by the number of runs would be too late.
	expected, ofThat time.Duration
	last             time.Time // time of the latest event
	course           course
	fresh            bool              // no run of the pass has begun
	running          map[run]time.Time // start of each run in progress
	engine           engineTally
}

// A run is identified by case and pass: two runs of one case may be in progress.
type run struct {
	name string
	pass int
}

func (t *tally) handle(ev Event) {
	switch ev := ev.(type) {
	case Started:
		*t = tally{command: readable.Line(ev.Command), counted: true}
		t.begin(1, ev.Resumed, ev.Cases, ev.At)
		t.expected = ev.Expected
	case PassStarted:
		t.begin(ev.Pass, 0, ev.Runs, ev.At)
		t.costs = ev.Costs
		t.expected = ev.Expected
	case CaseStarted:
		if t.running == nil {
			t.running = map[run]time.Time{}
		}
		t.measureFrom(ev.At)
		t.running[run{ev.Name, ev.Pass}] = ev.At
		t.last = ev.At
	case CaseRan:
		t.addRun(ev)
	case Retracted:
		t.done--
		t.ofThat -= ev.Expected
		t.last = ev.At
		t.measure(sample{ev.At, t.done, t.cpu, t.ofThat}) // plain runs are slower than forks
	case Engine:
		t.last = ev.At
		if t.engine.handle(ev); t.command == "" {
			t.command = readable.Line(ev.Command)
		}
	}
}

// shows reports whether there is something to show. The engine has its own line while no run is
// counted.
func (t *tally) shows() bool { return t.counted || t.engine.latest.Doing != "" }

func (t *tally) begin(pass, done, total int, at time.Time) {
	t.pass, t.done, t.total, t.cpu, t.last = pass, done, total, 0, at
	t.expected, t.ofThat = 0, 0
	t.engine.begin()
	t.measure(sample{at: at, done: done})
	t.fresh = true
}

// measure begins to measure at a sample.
func (t *tally) measure(from sample) {
	t.course = course{spacing: sampleSpacing}
	t.course.add(from)
}

// measureFrom measures a pass from its first run: earlier work, such as connecting to an
// engine, says nothing about its speed.
func (t *tally) measureFrom(at time.Time) {
	if t.fresh {
		t.measure(sample{at: at, done: t.done})
		t.fresh = false
	}
}

func (t *tally) addRun(ev CaseRan) {
	delete(t.running, run{ev.Name, ev.Pass})
	t.last = ev.At
	t.cpu += ev.CPU
	if ev.Old && !t.costs {
		return // the run of the other command on the same case
	}
	if ev.Differs {
		t.differs++
	}
	if ev.Pass < t.pass || t.pass == 1 && ev.Pass > 1 {
		return // a late run of an earlier pass, or a further run during the first pass
	}
	t.done++
	t.ofThat += ev.Expected
	t.course.add(sample{ev.At, t.done, t.cpu, t.ofThat})
	t.engine.addRun(ev)
}

// rate returns recent runs per second and busy cores; 0 = unknown.
func (t *tally) rate(now time.Time) (perSecond, cores float64) {
	from := t.course.base(now, t.done, recent)
	elapsed := now.Sub(from.at).Seconds()
	if elapsed < 1 || t.done == from.done {
		return 0, 0
	}
	return float64(t.done-from.done) / elapsed, (t.cpu - from.cpu).Seconds() / elapsed
}

// remaining estimates the time until the end of the pass. It returns false if the time is
// unknown.
func (t *tally) remaining(now time.Time, perSecond float64) (time.Duration, bool) {
	if perSecond <= 0 || t.engine.unsure() {
		return 0, false
	}
	// half of the pass back, and at least 30 seconds, so that an estimate follows the load of the machine smoothly
	from := t.course.base(now, t.done, max(now.Sub(t.course.samples[0].at)/2, 30*time.Second))
	elapsed := now.Sub(from.at).Seconds()
	seconds := float64(t.total-t.done) / float64(max(1, t.done-from.done)) * elapsed
	if done := t.ofThat - from.expected; t.expected > 0 && done > 0 {
		seconds = float64(max(0, t.expected-t.ofThat)) / float64(done) * elapsed
	}
	const secondsMax = 1000 * 3600
	if seconds < 0 || seconds > secondsMax {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// longestLeast is how long a run must take before it is shown.
const longestLeast = time.Second

// longest returns the run that has taken longest, if it has taken at least longestLeast.
func (t *tally) longest(now time.Time) (name string, since time.Time, ok bool) {
	for r, at := range t.running {
		if !ok || at.Before(since) || at.Equal(since) && r.name < name {
			name, since, ok = r.name, at, true
		}
	}
	return name, since, ok && now.Sub(since) >= longestLeast
}

// engineTally follows a run on an engine.
type engineTally struct {
	latest Engine
	known  bool      // whether latest is set
	since  time.Time // preparation before the first case

	cached, made int // ended runs of this pass
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
	if r.Cached {
		e.cached++
	} else {
		e.made++
	}
}

// unsure reports whether it is too early for an estimate: little has come but results that the engine had. The first of
// many parallel runs ends late, and the others end soon after it.
func (e *engineTally) unsure() bool {
	return e.known && e.made < max(windowRunsMin, 2*e.latest.InFlight) && e.cached < mostlyCached*(e.made+e.latest.InFlight)
}

// mostlyCached is the number of cached runs for each uncached one above which the uncached ones
// count for little.
const mostlyCached = 10

// preparation describes what comes before the first case.
func (e *engineTally) preparation(now time.Time) []string {
	fields := []string{readable.Line(e.latest.Doing)}
	if e.latest.Sent > 0 {
		fields = append(fields, "sent "+readable.Size(e.latest.Sent))
	}
	return append(fields, readable.Duration(now.Sub(e.since)))
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

// share describes how many results of this pass the engine had already, or returns "" if none was.
func (e *engineTally) share() string {
	if e.cached == 0 {
		return ""
	}
	percent := 100 * e.cached / (e.cached + e.made)
	return strconv.Itoa(percent) + " % reused"
}
