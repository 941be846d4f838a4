package regress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"muster/regress/internal/cost"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// costing is what is known so far of what the change costs.
type costing struct {
	rival  rival
	limits []cost.Limit
	cases  []costed    // that ended alike in both
	pairs  []cost.Pair // runs of both commands, one right after the other
	took   time.Duration
}

// costed is a case with what its first run took.
type costed struct {
	task task
	cost outcome.Cost
}

// comparable reports whether runs that ended so did the same work: one that failed where
// the other did not, or was stopped, says nothing of speed.
func comparable(old, now *outcome.Ending) bool {
	return old != nil && now != nil && *old == *now && old.Kind == outcome.Exited
}

func (k *costing) note(t task, e *report.Case) {
	if comparable(e.GoldenEnding, e.Ending) && e.Verdict != outcome.Environment {
		k.cases = append(k.cases, costed{t, e.Cost})
	}
}

// findRival finds what the candidate's cost is compared with. Where --fail-on could tell
// nothing it is refused, before anything runs.
func (c *checking) findRival() (err error) {
	if c.costs.limits, err = c.o.Judge.limits(); err != nil {
		return err
	}
	if len(c.costs.limits) > 0 && c.o.Judge.CostCases == 0 {
		return fault.Inputf("--fail-on %s: --cost-cases 0 tells nothing of the cost: leave one of both out", c.costs.limits[0])
	}
	c.costs.rival = c.base.rival(&c.command)
	if len(c.costs.limits) > 0 && c.costs.rival.command == nil && !c.costs.rival.same {
		return fault.Inputf("--fail-on %s: %s, so both commands cannot run in turns, and times of different days cannot be compared: record with an executable that stays where it is, or use muster compare", c.costs.limits[0], c.costs.rival.why)
	}
	return nil
}

// tellCost measures and tells what the change costs, once all cases have their verdicts.
func (c *checking) tellCost(ctx context.Context) error {
	if c.o.Judge.CostCases == 0 || len(c.final) < len(c.cases) || c.summary.Verdicts[outcome.Environment] > 0 {
		return nil // it was broken off
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
	c.emit(told)
	return c.judged(told)
}

// judged refuses to pass what --fail-on could not judge.
func (c *checking) judged(told report.Cost) error {
	for _, l := range c.costs.limits {
		if l.Untold(told.Estimate) && !c.costs.rival.same && c.o.status(c.summary, fault.None) == fault.StatusClean {
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
	return fmt.Sprintf("%d pairs of runs do not say on which side of the limit it is; run more cases, or keep the machine free of other work", told.Pairs)
}

// longer adds to what would help that --fail-on takes more time, where it was not given.
func (k *costing) longer(warnings []cost.Warning) {
	for i, w := range warnings {
		if len(k.limits) == 0 && (w.Kind == cost.TooFew || w.Kind == cost.Noisy) {
			warnings[i].Text += ", or give it time: --fail-on 'cpu>5%'"
		}
	}
}

// decided reports whether all limits are.
func (k *costing) decided(e cost.Estimate) bool {
	return len(k.limits) > 0 && !slices.ContainsFunc(k.limits, func(l cost.Limit) bool { return !l.Decided(e) && (l.Untold(e) || l.Of(e).Told()) })
}

func (c *checking) cost(ctx context.Context) (told report.Cost, err error) {
	k := &c.costs
	switch {
	case k.rival.same:
		return report.Cost{Why: k.rival.why}, nil
	case k.rival.command == nil:
		return c.recordedCost()
	}
	if err := c.inTurns(ctx); err != nil {
		return told, err
	}
	began := time.Now()
	told.Estimate = cost.Of(k.pairs, c.crew.Floor())
	if err := c.confirm(ctx, &told.Estimate); err != nil {
		return told, err
	}
	k.longer(told.Warnings)
	told.Took = k.took + time.Since(began)
	if told.Measured = len(told.Cases); told.Measured == 0 {
		told.Why = "no case ended with the same exit status in both commands"
		return told, nil
	}
	told.Cases = spread(told.Cases, report.CostCasesMax)
	return told, nil
}

// recordedCost compares with what was recorded, which says how much was needed then:
// under another load, perhaps on another machine.
func (c *checking) recordedCost() (told report.Cost, err error) {
	told.Why = c.costs.rival.why
	var pairs []cost.Pair
	for _, one := range spread(c.costs.cases, report.CostCasesMax) {
		old, known, err := c.base.get(one.task.entry.Name)
		if err != nil {
			return told, err
		}
		if known {
			pairs = append(pairs, cost.Pair{Case: one.task.entry.Name, Old: old.Cost, New: one.cost})
		}
	}
	told.Estimate, told.Indicative = cost.Of(pairs, c.crew.Floor()), true
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

// How precise the figures are to be, and how long that may take.
const (
	precisionWanted = 0.02 // to either side: a twentieth more is seldom missed
	roundsMax       = 50
	costPart        = 10               // one round, and more within this part of the time that the run took
	costTimeLimited = 20 * time.Second // within this where --fail-on depends on it, or as long as the run took
)

// inTurns runs both commands on some cases, round by round, until the figures are precise
// or have taken long enough. Each round has other cases while there are any.
func (c *checking) inTurns(ctx context.Context) error {
	k := &c.costs
	tasks := k.shuffled()
	if len(tasks) == 0 {
		return nil
	}
	began := time.Now()
	patience := began.Sub(c.began) / costPart
	if len(k.limits) > 0 {
		patience = max(costTimeLimited, costPart*patience)
	}
	size, last := min(c.o.Judge.CostCases, len(tasks)), time.Duration(0)
	for round := 0; round < roundsMax; round++ {
		estimate := cost.Of(k.pairs, c.crew.Floor())
		k.took = time.Since(began)
		urgent := len(k.limits) > 0 && !estimate.CPU.Bounded() && round < roundsMax/4
		if estimate.CPU.Precision() <= precisionWanted || k.decided(estimate) || len(k.pairs) > 0 && k.took+last > patience && !urgent {
			return nil
		}
		if err := c.round(ctx, turned(tasks, round*size)[:size], round); err != nil {
			return err
		}
		last = time.Since(began) - k.took
	}
	k.took = time.Since(began)
	return nil
}

// confirmRounds is how many further pairs tell whether a case is one of the worst.
const confirmRounds = 3

// confirm runs what seems to have become slow again.
func (c *checking) confirm(ctx context.Context, e *cost.Estimate) error {
	var tasks []task
	suspects := e.Suspects()
	for _, one := range c.costs.cases {
		if name := one.task.entry.Name; slices.Contains(suspects, name) && c.costs.rival.runs(name) {
			tasks = append(tasks, one.task)
		}
	}
	if len(tasks) == 0 {
		return nil
	}
	pairs := c.costs.pairs
	c.costs.pairs = nil
	defer func() { c.costs.pairs = pairs }()
	for round := range confirmRounds {
		if err := c.round(ctx, tasks, round); err != nil {
			return err
		}
	}
	e.Confirm(c.costs.pairs)
	return nil
}

// shuffled is the cases that the rival can run, in an order that says nothing and is the
// same each time.
func (k *costing) shuffled() (tasks []task) {
	for _, one := range k.cases {
		if k.rival.runs(one.task.entry.Name) {
			tasks = append(tasks, one.task)
		}
	}
	r := rand.New(rand.NewPCG(uint64(len(tasks)), 0))
	r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	return tasks
}

// turned is a list that begins elsewhere.
func turned(tasks []task, from int) []task {
	from %= len(tasks)
	return append(append(make([]task, 0, len(tasks)), tasks[from:]...), tasks[:from]...)
}

// paired is what came of a pair of runs.
type paired struct {
	err  error
	ok   bool // both ended alike
	pair cost.Pair
}

// round runs each case once with both commands, in turns which goes first.
func (c *checking) round(ctx context.Context, tasks []task, round int) error {
	pass := 2 + c.o.Judge.Retries + round
	c.emit(report.PassStarted{Pass: pass, Runs: 2 * len(tasks), Costs: true, At: time.Now()})
	return runPass(ctx, c.session, tasks, func(ctx context.Context, t task) paired {
		return c.pair(ctx, t, pass, (round+t.index)%2)
	}, func(t task, p paired) error {
		if p.err != nil {
			return p.err
		}
		c.summary.CPU += p.pair.Old.CPU + p.pair.New.CPU
		if p.ok {
			c.costs.pairs = append(c.costs.pairs, p.pair)
		}
		return nil
	})
}

// pair runs both commands on a case, one right after the other on one lane.
func (c *checking) pair(ctx context.Context, t task, pass, first int) paired {
	commands := [2]*exec.Command{c.costs.rival.command, c.command.For(t.entry.Name)}
	var costs [2]outcome.Cost
	var endings [2]outcome.Ending
	var failed error
	for done := 0; done < 2 && failed == nil; {
		var jobs []exec.Job
		for n := done; n < 2; n++ {
			jobs = append(jobs, exec.Job{Source: *t.entry, Command: commands[(n+first)%2], Avoid: exec.NoLane})
		}
		from := done
		done += c.crew.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(int) { c.started(t, pass) },
			Ended: func(i int, r *exec.Result, err error) {
				if err != nil {
					failed = blamed(ctx, err)
					return
				}
				side := (from + i + first) % 2
				costs[side], endings[side] = r.Cost, r.Outcome.Ending
				r.Release()
				c.emit(report.CaseRan{Name: t.entry.Name, Pass: pass, Old: side == 0, CPU: costs[side].CPU, Wall: costs[side].Wall, At: time.Now()})
			},
		})
	}
	return paired{
		err: failed, ok: failed == nil && comparable(&endings[0], &endings[1]),
		pair: cost.Pair{Case: t.entry.Name, Old: costs[0], New: costs[1]},
	}
}
