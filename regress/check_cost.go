package regress

import (
	"context"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
)

// prepareCosts prepares to measure what the change costs. It refuses a --fail-on that could not be
// decided.
func (c *checking) prepareCosts(find func() turns.Rival) error {
	limits, err := parseCostLimits(&c.o.Judge)
	if err != nil {
		return err
	}
	o := turns.Options{
		Limits: limits, CostCases: c.o.Judge.CostCases, FailFast: c.o.Select.FailFast > 0, Lanes: c.o.Limits.Jobs,
		FirstPass: 2 + c.o.Judge.Retries, Began: c.began, Get: c.base.Get, Command: c.commands.For,
		Sink: turns.Sink{Emit: c.events.Emit, AddCPU: func(used time.Duration) { c.ledger.Summary.CPU += used }, KeepPair: c.keepPair},
	}
	if c.crew.IsRemote() {
		if err := c.refuseLimitsOnEngine(); err != nil {
			return err
		}
		o.Rival = turns.Rival{Elsewhere: true, Why: "the workers of an engine differ, so what a change costs is not told there"}
	} else {
		o.Rival = find()
	}
	c.costs, err = turns.New(o)
	return err
}

// findRecordedRival finds the command with which a check compares the cost of its own.
func (c *checking) findRecordedRival() turns.Rival {
	now := turns.Candidate{Tool: c.tool}
	if len(c.commands.ByGlob) == 0 {
		now.Command = c.commands.Main
	}
	return turns.CostRival(c.recorded.meta, now)
}

// refuseLimitsOnEngine refuses --fail-on: the workers of an engine differ.
func (c *checking) refuseLimitsOnEngine() error {
	if len(c.o.Judge.FailOn) == 0 {
		return nil
	}
	return fault.Inputf("--fail-on %s: the workers of an engine differ, so what a change costs cannot be told there: leave it out, or run without --remote", c.o.Judge.FailOn[0])
}

// resumePairs takes over the pairs of an interrupted run, and opens their file for more.
func (c *checking) resumePairs() error {
	pairs, kept, err := c.run.OpenPairs()
	if err != nil {
		return err
	}
	c.pairs = pairs
	c.costs.Resume(kept)
	return nil
}

// keepPair keeps a pair with the run.
func (c *checking) keepPair(p state.Pair) error {
	if err := c.pairs.Add(p); err != nil {
		return err
	}
	return c.flush()
}

// reportCost measures and reports what the change costs. It does nothing if some cases have no
// verdict.
func (c *checking) reportCost(ctx context.Context) error {
	if c.o.Judge.CostCases == 0 || len(c.final) < len(c.cases) || c.ledger.Summary.Verdicts[outcome.Environment] > 0 {
		return nil
	}
	measured, err := c.costs.Measure(ctx)
	if err != nil {
		return err
	}
	c.ledger.Summary.Over = measured.Over
	c.events.Emit(measured)
	if exitStatus(c.o, c.ledger.Summary, fault.None) != fault.StatusClean {
		return nil // the check fails in any case
	}
	return c.costs.RefuseUndecided(measured)
}
