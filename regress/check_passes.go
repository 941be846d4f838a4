package regress

import (
	"context"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// passes makes the runs of a check or a compare, and passes their results to verdicts.
type passes struct {
	width    crew.Width
	cases    []corpus.Entry // selected
	first    firstRuns
	further  furtherRuns
	verdicts *verdicts
}

// runFirst makes the first run of every task.
func (p *passes) runFirst(ctx context.Context, tasks []pass.Task) error {
	v := p.verdicts
	if v.judge.reference != nil {
		return pass.Run(ctx, p.width.Goroutines, tasks, p.first.runBesideReference, v.takeFirst)
	}
	chosen, err := p.first.costs.ChooseCases(p.cases)
	if err != nil {
		return err
	}
	var beside, alone []pass.Task
	for _, t := range tasks {
		if chosen[t.Index] {
			beside = append(beside, t)
		} else {
			alone = append(alone, t)
		}
	}
	if err := pass.Run(ctx, p.width.Goroutines, beside, p.first.runBesideRival, v.takeFirst); err != nil {
		return err
	}
	if p.width.Goroutines > 1 { // else the further runs would be on the lane of the first
		v.waiting.room = p.width.Jobs
	}
	return pass.Batched[firstResult]{
		Goroutines: p.width.Goroutines, Alone: p.width.Alone, Due: v.due, RunTasks: p.first.runner.RunTasks(1),
		Avoid: func(pass.Task) int { return exec.NoLane }, Look: p.first.compare, Take: v.takeFirst,
		Between: p.runWaiting,
	}.Run(ctx, alone)
}

// runWaiting makes the further runs of one waiting case, between two cases of the first pass.
func (p *passes) runWaiting(ctx context.Context, long time.Duration) (note func() error) {
	u, ok := p.verdicts.waiting.next(long, p.verdicts.due)
	if !ok {
		return nil
	}
	j := p.further.run(ctx, u)
	return func() error { return p.verdicts.takeFurther(u.task, j) }
}

// runFurther makes the further runs of every case that still needs some, on other lanes than
// the first run, and gives these cases their verdicts.
func (p *passes) runFurther(ctx context.Context) error {
	v := p.verdicts
	cases, unreported := v.listUndecided()
	if runs := p.further.countLeft(cases); runs > 0 {
		v.events.Emit(report.PassStarted{Pass: 2, Runs: runs, At: time.Now()})
	}
	v.order.Expect(unreported)
	pending := make([]pass.Task, len(cases))
	for i, u := range cases {
		pending[i] = u.task
	}
	again := func(ctx context.Context, t pass.Task) judgement { return p.further.run(ctx, v.undecided[t.Index]) }
	err := pass.Run(ctx, p.width.Goroutines, pending, again, v.takeFurther)
	v.order.Flush()
	return err
}
