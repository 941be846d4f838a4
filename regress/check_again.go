package regress

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// runWaiting makes the further runs of one waiting case, between two cases of the first
// pass.
func (c *checking) runWaiting(ctx context.Context, long time.Duration) (note func() error) {
	f, ok := c.waiting.next(long, c.due)
	if !ok {
		return nil
	}
	j := c.judgeFurther(ctx, f)
	return func() error { return c.takeJudged(f.task, j) }
}

// runFurther makes the further runs of every case that still needs some, on other lanes than
// the first run, and gives these cases their verdicts.
func (c *checking) runFurther(ctx context.Context) error {
	var pending, unreported []pass.Task
	var firsts []firstRun
	for _, i := range slices.Sorted(maps.Keys(c.firsts)) {
		f := c.firsts[i]
		if c.order.Has(f.task) {
			unreported = append(unreported, f.task)
		} else if !c.final[i] {
			unreported, pending, firsts = append(unreported, f.task), append(pending, f.task), append(firsts, f)
		}
	}
	if runs := c.runsLeft(firsts); runs > 0 {
		c.events.Emit(report.PassStarted{Pass: 2, Runs: runs, At: time.Now()})
	}
	c.order.Expect(unreported)
	again := func(ctx context.Context, t pass.Task) judgement { return c.judgeFurther(ctx, c.firsts[t.Index]) }
	err := pass.Run(ctx, c.goroutines(), pending, again, c.takeJudged)
	c.order.Flush()
	return err
}

// takeJudged notes the result of the further runs of a case.
func (c *checking) takeJudged(t pass.Task, j judgement) error {
	if j.err != nil {
		if c.order.Expects() {
			c.order.Add(t, func() {})
		}
		return c.takeError(t, j.err)
	}
	c.ledger.Summary.CPU += j.cpu
	c.order.Add(t, func() { c.conclude(t, j.word) })
	return nil
}

// reportDiffered reports the cases that differed and have no verdict when a run broke off.
// So every difference that a run showed is reported.
func (c *checking) reportDiffered() error {
	c.order.Flush()
	for _, i := range slices.Sorted(maps.Keys(c.firsts)) {
		if c.final[i] {
			continue
		}
		f := c.firsts[i]
		word, err := c.judge(f)
		if err != nil {
			return err
		}
		switch word.Verdict {
		case outcome.Identical:
			continue // --runs asks for more runs
		case outcome.Flaky, outcome.New: // further runs would change nothing
		default:
			word.Verdict, word.Unstable = outcome.DifferedOnce, false
		}
		word.Engine = f.onEngine
		c.conclude(f.task, word)
	}
	return nil
}

// waitingRoom holds cases that differed in the first pass, until a lane runs them again. It
// is bounded: a case that does not fit runs again after the pass.
type waitingRoom struct {
	room int // 0 = nothing runs again during the pass

	mu     sync.Mutex
	firsts []firstRun // in the order in which they came
}

// add adds a case if there is room.
func (w *waitingRoom) add(f firstRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.firsts) < w.room {
		w.firsts = append(w.firsts, f)
	}
}

// next takes out the case that has waited longest. While there is room for more, next takes
// the case only if it lasts as long as the next case of the pass: long cases begin first.
func (w *waitingRoom) next(long time.Duration, due pass.Durations) (f firstRun, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.firsts) == 0 || len(w.firsts) < w.room && due.Of(w.firsts[0].task.Index) < long {
		return f, false
	}
	f, w.firsts = w.firsts[0], w.firsts[1:]
	return f, true
}
