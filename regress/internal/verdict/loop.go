package verdict

import (
	"context"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// A Loop makes the runs of a check or a compare: a first run of each case, and further runs of
// those that differ, or of all with --runs. One goroutine calls its methods.
type Loop struct {
	collector
	first   firstRuns
	further furtherRuns
}

// New returns a Loop that has run no case.
func New(o Options) *Loop {
	return &Loop{
		collector: collector{
			o:        o,
			failures: failureCounter{base: o.Judge.Baseline, cases: len(o.Cases), stopped: o.Resumed, warn: o.WarnFailing},
			order:    pass.NewInOrder(), progress: make([]progress, len(o.Cases)),
		},
		first:   firstRuns{runner: o.Runner, judge: o.Judge, settle: o.Settle, costs: o.Costs},
		further: furtherRuns{runner: o.Runner, judge: o.Judge, numbers: o.Numbers, emit: o.Events.Emit},
	}
}

// RunFirst makes the first run of every task. It may be called again for other tasks. It does nothing
// once --fail-fast has ended the first runs.
func (l *Loop) RunFirst(ctx context.Context, tasks []pass.Task) error {
	c := &l.collector
	if err := c.enough(); err != nil {
		return pass.EndError(ctx, err)
	}
	if c.o.Judge.Reference != nil {
		return pass.Run(ctx, c.o.Goroutines, tasks, l.first.runBesideReference, c.takeFirst)
	}
	chosen, err := c.o.Costs.ChooseCases(c.o.Cases)
	if err != nil {
		return err
	}
	beside, alone := pass.Split(tasks, func(t pass.Task) bool { return chosen[t.Index] })
	if err := pass.Run(ctx, c.o.Goroutines, beside, l.first.runBesideRival, c.takeFirst); err != nil {
		return err
	}
	if c.o.Goroutines > 1 { // else the further runs would be on the lane of the first
		c.waiting.room = c.o.Jobs
	}
	return pass.Batched[firstResult]{
		Goroutines: c.o.Goroutines, Alone: c.o.Alone, Due: c.o.Due, RunTasks: c.o.Runner.RunTasks(1),
		Avoid: func(pass.Task) int { return exec.NoLane }, Examine: l.first.compare, Receive: c.takeFirst,
		Between: l.runWaiting,
	}.Run(ctx, alone)
}

// HasEnoughFailed reports whether --fail-fast has ended the first runs.
func (l *Loop) HasEnoughFailed() bool { return l.collector.enough() != nil }

// runWaiting makes the further runs of one waiting case, between two cases of the first pass.
func (l *Loop) runWaiting(ctx context.Context, long time.Duration) (note func() error) {
	u, ok := l.collector.waiting.next(long, l.collector.o.Due)
	if !ok {
		return nil
	}
	j := l.further.run(ctx, u)
	return func() error { return l.collector.takeFurther(u.task, j) }
}

// RunFurther makes the further runs of every case that still needs some, on other lanes than the
// first run, and gives these cases their verdicts.
func (l *Loop) RunFurther(ctx context.Context) error {
	c := &l.collector
	if err := c.o.Journal.lines.Flush(); err != nil {
		return err
	}
	cases, unreported, runs := c.listUndecided()
	if c.o.Judge.Reference != nil {
		runs *= 2
	}
	if runs > 0 {
		c.o.Events.Emit(report.PassStarted{Pass: 2, Runs: runs, At: time.Now()})
	}
	c.order.Expect(unreported)
	again := func(ctx context.Context, t pass.Task) judgement {
		u, err := c.readUndecided(t)
		if err != nil {
			return judgement{err: err}
		}
		return l.further.run(ctx, u)
	}
	err := pass.Run(ctx, c.o.Goroutines, cases, again, c.takeFurther)
	c.order.Flush()
	return err
}

// ReportUndecided reports the cases that differed and have no verdict when a run broke off.
// So every difference that a run showed is reported.
func (l *Loop) ReportUndecided() error {
	c := &l.collector
	c.order.Flush()
	_ = c.o.Journal.lines.Flush() // Close returns its error
	for t := range c.eachUndecided() {
		judged, decided, err := c.o.Judge.decide(t)
		if err != nil {
			return err
		}
		if !decided {
			continue // identical so far: --runs asks for more runs
		}
		switch judged.Verdict {
		case regress.Identical:
			continue
		case regress.Flaky, regress.New: // further runs would change nothing
		default:
			judged.Verdict, judged.Unstable = regress.DifferedOnce, false
		}
		if u, err := c.readUndecided(t); err == nil { // else a full disk has lost the line
			judged.Engine = u.line.Engine
		}
		c.conclude(t, judged)
	}
	return nil
}

// IsDecided reports whether a case has its verdict.
func (l *Loop) IsDecided(index int) bool { return l.collector.progress[index] == decided }

// AllEnded reports whether every case has its verdict or could not run.
func (l *Loop) AllEnded() bool { return !slices.Contains(l.collector.progress, undecided) }

// CountUnstable returns the number of cases whose runs differ from the baseline and from each other.
func (l *Loop) CountUnstable() int { return l.collector.unstable }

// HasWarned reports whether the Loop called WarnFailing.
func (l *Loop) HasWarned() bool { return l.collector.failures.warned }
