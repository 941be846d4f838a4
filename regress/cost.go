package regress

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/internal/wording"
	"muster/regress/internal/cost"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// costing is what is known so far of what the change costs.
type costing struct {
	rival  rival
	limits []cost.Limit
	kept   *state.Pairs
	cases  []costed       // that ended alike in both
	pairs  []cost.Pair    // runs of both commands, one right after the other
	tried  map[string]int // how often such runs were made, by case
	broken error          // of the rival
	took   time.Duration  // by what ran for the figures alone
}

// costed is a case with what its first run took.
type costed struct {
	task pass.Task
	cost outcome.Cost
}

func (c costed) name() string { return c.task.Entry.Name }

// comparable reports whether runs that ended so did the same work: one that failed where
// the other did not, or was stopped, says nothing of speed.
func comparable(old, now *outcome.Ending) bool {
	return old != nil && now != nil && *old == *now && old.Kind == outcome.Exited
}

func (k *costing) note(t pass.Task, e *report.Case) {
	if comparable(e.GoldenEnding, e.Ending) && e.Verdict != outcome.Environment {
		k.cases = append(k.cases, costed{t, e.Cost})
	}
}

// findRival finds what the candidate's cost is compared with. Where --fail-on could tell
// nothing it is refused, before anything runs.
func (c *checking) findRival(find func() rival) (err error) {
	if c.costs.limits, err = parseCostLimits(&c.o.Judge); err != nil {
		return err
	}
	if c.crew.IsRemote() {
		c.costs.rival.why = "the workers of an engine differ, so what a change costs is not told there"
		return c.refuseLimitsOnEngine()
	}
	if len(c.costs.limits) > 0 && c.o.Judge.CostCases == 0 {
		return fault.Inputf("--fail-on %s: --cost-cases 0 tells nothing of the cost: leave one of both out", c.costs.limits[0])
	}
	c.costs.rival = find()
	if len(c.costs.limits) > 0 && c.costs.rival.command == nil && !c.costs.rival.same {
		return fault.Inputf("--fail-on %s: %s, so both commands cannot run in turns, and times of different days cannot be compared: record with an executable that stays where it is, or use muster compare", c.costs.limits[0], c.costs.rival.why)
	}
	return nil
}

// refuseLimitsOnEngine refuses --fail-on: the workers of an engine differ.
func (c *checking) refuseLimitsOnEngine() error {
	if len(c.o.Judge.FailOn) == 0 {
		return nil
	}
	return fault.Inputf("--fail-on %s: the workers of an engine differ, so what a change costs cannot be told there: leave it out, or run without --remote", c.o.Judge.FailOn[0])
}

// tellCost measures and tells what the change costs, once all cases have their verdicts.
func (c *checking) tellCost(ctx context.Context) error {
	if c.o.Judge.CostCases == 0 || len(c.final) < len(c.cases) || c.summary.Verdicts[outcome.Environment] > 0 {
		return nil // it is not wanted, or cannot be told of a part of the cases
	}
	told, err := c.cost(ctx)
	if err != nil {
		return err
	}
	for _, l := range c.costs.limits {
		if l.Passed(told.Estimate) {
			told.Over = append(told.Over, l.String())
		}
	}
	c.summary.Over = told.Over
	c.events.Emit(told)
	return c.judged(told)
}

// judged refuses to pass what --fail-on could not judge.
func (c *checking) judged(told report.Cost) error {
	for _, l := range c.costs.limits {
		if l.Inconclusive(told.Estimate) && !c.costs.rival.same && exitStatus(c.o, c.summary, fault.None) == fault.StatusClean {
			return fault.Inputf("--fail-on %s: there is too little to tell what the change costs: %s", l, tooLittle(told))
		}
	}
	return nil
}

// tooLittle says why --fail-on could not judge, and what would help.
func tooLittle(told report.Cost) string {
	for _, w := range told.Warnings {
		if w.Kind == cost.TooFew {
			return w.Text
		}
	}
	if told.Why != "" {
		return told.Why
	}
	return fmt.Sprintf("%d pairs of runs do not say on which side of the limit it is: run more cases, or keep the machine free of other work", told.Pairs)
}

// longer adds to what would help that --fail-on takes more time, where it was not given.
func (k *costing) longer(warnings []cost.Warning) {
	for i, w := range warnings {
		if len(k.limits) == 0 && (w.Kind == cost.TooFew || w.Kind == cost.Noisy) {
			warnings[i].Text += "; --fail-on 'cpu>5%' goes on until it can tell"
		}
	}
}

// decided reports whether all limits are.
func (k *costing) decided(e cost.Estimate) bool {
	return len(k.limits) > 0 && !slices.ContainsFunc(k.limits, func(l cost.Limit) bool { return !l.Decided(e) && (l.Inconclusive(e) || l.Of(e).IsKnown()) })
}

func (c *checking) cost(ctx context.Context) (told report.Cost, err error) {
	k := &c.costs
	switch {
	case k.rival.same || c.crew.IsRemote() || k.rival.there && k.rival.command == nil:
		return report.Cost{Why: k.rival.why}, nil
	case k.rival.command == nil:
		return c.recordedCost()
	}
	if err := c.inTurns(ctx); err != nil {
		return told, err
	}
	began := time.Now()
	told.Estimate = cost.Of(k.pairs, c.executor.Floor())
	if err := c.confirm(ctx, &told.Estimate); err != nil {
		return told, err
	}
	if why := k.spoilt(); why != "" {
		return report.Cost{Why: why}, nil
	}
	k.longer(told.Warnings)
	told.Took, told.Against = k.took+time.Since(began), k.rival.moved
	if told.Measured = len(told.Cases); told.Measured == 0 {
		told.Why = "no case ended with the same exit status in both commands"
		if len(k.pairs) > 0 {
			told.Why = "no run took CPU time that could be told"
		}
		return told, nil
	}
	told.Cases = spread(told.Cases, report.CostCasesMax)
	return told, nil
}

// spoilt says why the pairs are of no use: the rival is another by now, which may be why it
// could not run, or it could not run.
func (k *costing) spoilt() string {
	why := k.rival.spoilt()
	if why == "" && k.broken != nil {
		why = "the golden's command could not run beside: " + wording.Of(k.broken)
	}
	return why
}

// recordedCost compares with what was recorded, which says how much was needed then:
// under another load, perhaps on another machine.
func (c *checking) recordedCost() (told report.Cost, err error) {
	told.Why = c.costs.rival.why
	var pairs []cost.Pair
	for _, one := range spread(c.costs.cases, report.CostCasesMax) {
		old, known, err := c.base.Get(one.task.Entry.Name)
		if err != nil {
			return told, err
		}
		if known {
			pairs = append(pairs, cost.Pair{Case: one.task.Entry.Name, Old: old.Cost, New: one.cost})
		}
	}
	told.Estimate, told.Indicative = cost.Of(pairs, c.executor.Floor()), true
	told.Measured = len(told.Cases)
	// An interval would say how the cases scatter, and nothing of how the days differ.
	told.CPU.Low, told.CPU.High, told.Memory.Low, told.Memory.High = 0, 0, 0, 0
	told.Warnings = nil
	return told, nil
}

// spread picks at most so many from the whole of a list.
func spread[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	picked := make([]T, most)
	for i := range picked {
		picked[i] = list[i*len(list)/most]
	}
	return picked
}
