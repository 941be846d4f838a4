package crew

import (
	"context"
	"sync"
	"time"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/report"
)

// counting is an executor that counts the runs of another one.
type counting struct {
	exec.Executor
	runs *runCounter
}

// Run implements exec.Executor.
func (e counting) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	e.runs.add(j.Source.Name, r)
	return r, err
}

// RunAll implements exec.Executor.
func (e counting) RunAll(ctx context.Context, b exec.Batch) int {
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) {
		e.runs.add(b.Jobs[i].Source.Name, r)
		ended(i, r, err)
	}
	return e.Executor.RunAll(ctx, b)
}

// runCounter sums up the runs on an engine. Several goroutines may use it.
type runCounter struct {
	mu  sync.Mutex
	all report.EngineSum
}

// add counts a run that has a result.
func (c *runCounter) add(caseName string, r *exec.Result) {
	if r == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Add(caseName, r.Engine, time.Now())
}

func (c *runCounter) sum() *regress.EngineRuns {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.Runs()
}
