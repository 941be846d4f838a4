package verdict

import (
	"sync"
	"time"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
)

// firstResult is the result of the first run of a case.
type firstResult struct {
	err       error
	identical bool
	ending    regress.Ending
	left      content.Uncompared
	cost      outcome.Cost
	beside    *turns.Turn // both runs, if another command ran beside
	lane      int
	onEngine  *outcome.EngineRun
	reused    bool // the outcome of an earlier run
	forked    bool // a fork of a command that had started
	silent    bool // without output
}

// identicalCase returns the report of a case whose runs all equalled the baseline.
func (r *firstResult) identicalCase() report.Case {
	ending := r.ending
	return report.Case{
		Verdict: regress.Identical, Ending: &ending, GoldenEnding: &ending, Cost: r.cost,
		Flaky: r.left.Masked, Masked: r.left.Masked, Ignored: r.left.Ignored, Holes: r.left.Holes, Engine: r.onEngine, Reused: r.reused, Forked: r.forked,
	}
}

// undecidedCase is a case that needs further runs before its verdict.
type undecidedCase struct {
	task pass.Task
	lane int        // of the first run
	line state.Line // of the first run; if it is identical, the case runs again because of --runs
}

// undecidedRef is the part of an undecided case that stays in memory until the further runs. The rest
// is read from the journal: with --runs, every case of a million may be undecided.
type undecidedRef struct {
	at   int64 // offset of the line of its first run; noLine if the case never was undecided
	lane int32 // of the first run
	left int32 // further runs that it still needs; an interrupted run may have made others
}

// RunNumbers says how often a case runs.
type RunNumbers struct {
	Retries   int // further runs of a case that differs
	Identical int // runs of an identical case, the first included; 0 is 1
}

// of returns the number of runs of a case, the first included, by whether the first was identical.
func (n RunNumbers) of(identical bool) int {
	if identical {
		return max(1, n.Identical)
	}
	return 1 + n.Retries
}

// waitingRoom holds undecided cases of the first pass, until a lane runs them again. It
// is bounded: a case that does not fit runs again after the pass. Several goroutines may use it.
type waitingRoom struct {
	room int // 0 = no case runs again during the pass

	mu    sync.Mutex
	cases []undecidedCase // in the order of their arrival
}

// add adds a case if there is room.
func (w *waitingRoom) add(u undecidedCase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cases) < w.room {
		w.cases = append(w.cases, u)
	}
}

// next takes out the case that has waited longest. While there is room for more, next takes
// the case only if it lasts as long as the next case of the pass: long cases begin first.
func (w *waitingRoom) next(long time.Duration, due pass.Durations) (u undecidedCase, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cases) == 0 || len(w.cases) < w.room && due.Of(w.cases[0].task.Index) < long {
		return u, false
	}
	u, w.cases = w.cases[0], w.cases[1:]
	return u, true
}
