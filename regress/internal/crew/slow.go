package crew

import (
	"context"
	"sync"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/report"
)

// reportSlow returns an executor that reports a run that takes longer than a limit while it still
// goes on, and again at each multiple of the limit. A limit of 0 reports nothing. Observed runs do
// not count, because observing makes them longer.
func reportSlow(e exec.Executor, limit time.Duration, emit func(report.Event)) exec.Executor {
	if limit <= 0 {
		return e
	}
	return slowRuns{e, max(limit, time.Millisecond), emit} // a shorter limit would print thousands of lines
}

type slowRuns struct {
	exec.Executor
	limit time.Duration
	emit  func(report.Event)
}

// RunAll implements exec.Executor. It does not count the time until a lane is idle.
func (e slowRuns) RunAll(ctx context.Context, b exec.Batch) int {
	clocks := make([]*slowClock, len(b.Jobs))
	started, ended := b.Started, b.Ended
	b.Started = func(i int) {
		clocks[i].stop() // the case starts again if its lane died
		if !b.Jobs[i].Observe {
			clocks[i] = e.startClock(b.Jobs[i].Source.Name)
		}
		started(i)
	}
	b.Ended = func(i int, r *exec.Result, err error) {
		clocks[i].stop()
		ended(i, r, err)
	}
	return e.Executor.RunAll(ctx, b)
}

// A slowClock reports one run until stop. A nil slowClock is stopped.
type slowClock struct {
	mu      sync.Mutex // guards the fields below, and lets stop wait for a report under way
	timer   *time.Timer
	periods int
	stopped bool
}

func (e slowRuns) startClock(caseName string) *slowClock {
	c := &slowClock{}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(e.limit, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopped {
			return
		}
		c.periods++
		e.emit(report.SlowNote(caseName, time.Duration(c.periods)*e.limit))
		c.timer.Reset(e.limit)
	})
	return c
}

// stop returns when nothing more will be reported.
func (c *slowClock) stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.timer.Stop()
}
