package regress

import (
	"context"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/turns"
)

// firstResult is the result of the first run of a case.
type firstResult struct {
	err       error
	identical bool
	ending    outcome.Ending
	left      content.Uncompared
	cost      outcome.Cost
	beside    *turns.Turn // both runs, if another command ran beside
	lane      int
	onEngine  *outcome.EngineRun
}

// runFirst makes the first run of every task, and takes the results.
func (c *checking) runFirst(ctx context.Context, tasks []pass.Task) error {
	if c.reference != nil {
		return pass.Run(ctx, c.goroutines(), tasks, c.runPair, c.takeFirst)
	}
	chosen, err := c.costs.ChooseCases(c.cases)
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
	if err := pass.Run(ctx, c.goroutines(), beside, c.runBesideRival, c.takeFirst); err != nil {
		return err
	}
	if c.goroutines() > 1 { // else the further runs would be on the lane of the first
		c.waiting.room = c.jobs()
	}
	return pass.Batched[firstResult]{
		Goroutines: c.goroutines(), Alone: c.onePerLane(), Due: c.due, RunTasks: c.runner().RunTasks(1),
		Avoid: func(pass.Task) int { return exec.NoLane }, Look: c.compareFirst, Take: c.takeFirst,
		Between: c.runWaiting,
	}.Run(ctx, alone)
}

// runBesideRival runs the candidate on a case, and its rival beside it.
func (c *checking) runBesideRival(ctx context.Context, t pass.Task) (got firstResult) {
	both := c.costs.RunBoth(ctx, t, 1, t.Index%2, func(r *exec.Result, err error) {
		if err == nil {
			c.settler.Settle(t.Entry.Name, &r.Outcome)
		}
		got = c.compareFirst(ctx, t, r, err)
	})
	if got.err == nil {
		got.err = both.Err(turns.NewRun)
	}
	got.beside = &both
	return got
}

// compareFirst compares a first run with the golden, and stores it if it is not identical.
func (c *checking) compareFirst(ctx context.Context, t pass.Task, r *exec.Result, err error) firstResult {
	if err != nil {
		return firstResult{err: err}
	}
	defer r.Release()
	got := firstResult{ending: r.Outcome.Ending, cost: r.Cost, lane: r.Lane, onEngine: r.Engine}
	l, left, err := c.compare(t.Entry.Name, r)
	got.identical, got.left, got.err = l == keep.Alike, left, err
	if err == nil && l != keep.Alike {
		got.err = c.found.Put(ctx, t.Entry.Name, r, l)
	}
	return got
}

// runPair runs the reference and the candidate on a case. They take turns to go first, so that
// neither always has the warmer caches. runPair stores both runs if they are not identical.
func (c *checking) runPair(ctx context.Context, t pass.Task) firstResult {
	commands := [2]*exec.Command{c.reference.command, c.commands.For(t.Entry.Name)}
	same := commands[0].Same(commands[1])
	var results [2]*exec.Result
	avoid := exec.NoLane
	for n := range commands {
		i := (n + t.Index) % 2
		r, err := c.runner().RunOnce(ctx, t, commands[i], 1, avoid, same && n > 0) // else one run would be compared with itself
		if err != nil {
			return firstResult{err: err}
		}
		defer r.Release()
		results[i], avoid = r, r.Lane
	}
	ref, now := results[0], results[1]
	got := firstResult{ending: now.Outcome.Ending, cost: now.Cost, lane: now.Lane, onEngine: now.Engine, beside: &turns.Turn{}}
	got.beside.Record(turns.OldRun, ref, nil)
	got.beside.Record(turns.NewRun, now, nil)
	l, err := keep.Compare(&ref.Outcome, &now.Outcome, c.comparer.Same(ref.Open, now.Open))
	if err != nil {
		return firstResult{err: err}
	}
	if got.identical, got.left = l == keep.Alike, content.UncomparedIn(&ref.Outcome).With(&now.Outcome); !got.identical {
		got.err = c.reference.Put(ctx, t.Entry.Name, ref, keep.Unmatched)
		if got.err == nil {
			got.err = c.found.Put(ctx, t.Entry.Name, now, l)
		}
	}
	return got
}
