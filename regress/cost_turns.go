package regress

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"muster/regress/internal/cost"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// How precise the figures are to be, and how long that may take beside the run itself.
const (
	precisionWanted = 0.02 // to either side: a twentieth more is seldom missed
	roundsMax       = 50
	costPart        = 10                     // more pairs within this part of the time that the run took,
	costLeast       = 100 * time.Millisecond // or within this, which nobody notices,
	costTimeLimited = 20 * time.Second       // or, where --fail-on depends on it, this or as long as the run took
)

// patience is how long runs for the figures alone may take.
func (k *costing) patience(ran time.Duration) time.Duration {
	switch {
	case len(k.limits) > 0:
		return max(costTimeLimited, ran)
	case len(k.pairs) == 0:
		return max(costLeast, ran) // the first pass made none
	}
	return max(costLeast, ran/costPart)
}

// inTurns runs both commands on some cases, round by round, until the figures are precise
// or have taken long enough. Each round has other cases while there are any.
func (c *checking) inTurns(ctx context.Context) error {
	k := &c.costs
	tasks := k.shuffled()
	began := time.Now()
	patience, before := k.patience(began.Sub(c.began)), k.took
	for round := 0; round < roundsMax && k.broken == nil; round++ {
		estimate := cost.Of(k.pairs, c.executor.Floor())
		if estimate.CPU.Precision() <= precisionWanted || k.decided(estimate) {
			return nil
		}
		slices.SortStableFunc(tasks, func(a, b costed) int { return cmp.Compare(k.tried[a.name()], k.tried[b.name()]) })
		next := tasks[:min(c.o.Judge.CostCases, len(tasks))]
		if urgent := len(k.limits) > 0 && !estimate.CPU.Bounded() && round < roundsMax/4; !urgent {
			next = c.fitting(next, patience-time.Since(began))
		}
		if len(next) == 0 {
			return nil
		}
		if err := c.round(ctx, next, round, c.keepPair); err != nil {
			return err
		}
		k.took = before + time.Since(began)
	}
	return nil
}

// fitting is the first of the cases, as many as can be run in turns in so long. The last
// one may take longer than what is left of the time, but not than all of it: to leave out
// what is large would leave out what counts.
func (c *checking) fitting(cases []costed, left time.Duration) []costed {
	lanes := time.Duration(max(1, min(c.o.Limits.Jobs, len(cases))))
	var sum time.Duration
	for i, one := range cases {
		if takes := 2 * one.cost.Wall / lanes; sum >= left || takes > left {
			return cases[:i]
		} else {
			sum += takes
		}
	}
	return cases
}

// confirmRounds is how many further pairs tell whether a case is one of the worst.
const confirmRounds = 3

// confirm runs what seems to have become slow again, the worst first, as far as there is
// time for it.
func (c *checking) confirm(ctx context.Context, e *cost.Estimate) error {
	k := &c.costs
	suspects := e.Suspects()
	var cases []costed
	for _, one := range k.cases {
		if slices.Contains(suspects, one.name()) && k.rival.runs(one.name()) {
			cases = append(cases, one)
		}
	}
	slices.SortFunc(cases, func(a, b costed) int {
		return cmp.Compare(slices.Index(suspects, a.name()), slices.Index(suspects, b.name()))
	})
	cases = c.fitting(cases, k.patience(time.Since(c.began))/confirmRounds)
	var further []cost.Pair
	for round := range confirmRounds {
		if len(cases) == 0 || k.broken != nil {
			return nil
		}
		if err := c.round(ctx, cases, round, func(p cost.Pair) error {
			further = append(further, p)
			return nil
		}); err != nil {
			return err
		}
	}
	e.Confirm(further)
	return nil
}

// shuffled is the cases that the rival can run, in an order that says nothing and is the
// same each time.
func (k *costing) shuffled() (cases []costed) {
	for _, one := range k.cases {
		if k.rival.runs(one.name()) {
			cases = append(cases, one)
		}
	}
	r := rand.New(rand.NewPCG(uint64(len(cases)), 0))
	r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	return cases
}

// round runs each case once with both commands, in turns which goes first.
func (c *checking) round(ctx context.Context, cases []costed, round int, take func(cost.Pair) error) error {
	number := 2 + c.o.Judge.Retries + round
	c.events.Emit(report.PassStarted{Pass: number, Runs: 2 * len(cases), Costs: true, At: time.Now()})
	tasks := make([]pass.Task, len(cases))
	first := make(map[int]int, len(cases))
	for i, one := range cases {
		tasks[i] = one.task
		first[one.task.Index] = (c.costs.tried[one.name()] + one.task.Index) % 2
	}
	return pass.Run(ctx, c.goroutines(), tasks, func(ctx context.Context, t pass.Task) turns {
		return c.inTurn(ctx, t, number, first[t.Index], nil)
	}, func(t pass.Task, both turns) error {
		return c.takeTurns(t, both, take)
	})
}

// turns is what came of a run of each command: the rival's, and the candidate's.
type turns struct {
	costs   [2]outcome.Cost
	endings [2]outcome.Ending
	errs    [2]error
	ran     [2]bool
}

// pair is what both took, if they did the same work.
func (b *turns) pair(t pass.Task) (p cost.Pair, ok bool) {
	ok = b.errs[0] == nil && b.errs[1] == nil && comparable(&b.endings[0], &b.endings[1])
	return cost.Pair{Case: t.Entry.Name, Old: b.costs[0], New: b.costs[1]}, ok
}

// takeTurns notes what came of both.
func (c *checking) takeTurns(t pass.Task, both turns, take func(cost.Pair) error) error {
	c.costs.tried[t.Entry.Name]++
	c.summary.CPU += both.costs[0].CPU + both.costs[1].CPU
	switch rival := both.errs[0]; {
	case both.errs[1] != nil:
		return both.errs[1]
	case rival != nil && fault.ClassOf(rival) == fault.Interrupted:
		return rival
	case rival != nil:
		c.costs.broken = rival
		return pass.ErrStop
	}
	if p, ok := both.pair(t); ok {
		return take(p)
	}
	return nil
}

// inTurn runs both commands on a case, one right after the other on one lane; first is the
// side that begins. What the candidate left is for look to tell and to release, unless
// that is nil.
func (c *checking) inTurn(ctx context.Context, t pass.Task, pass, first int, look func(*exec.Result, error)) (both turns) {
	commands := [2]*exec.Command{c.costs.rival.command, c.commands.For(t.Entry.Name)}
	for done := 0; done < 2 && ctx.Err() == nil; {
		var jobs []exec.Job
		for n := done; n < 2; n++ {
			jobs = append(jobs, exec.Job{Source: *t.Entry, Command: commands[(n+first)%2], Avoid: exec.NoLane})
		}
		from := done
		done += c.unsettled.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(int) { c.started(t, pass) },
			Ended: func(i int, r *exec.Result, err error) {
				side := (from + i + first) % 2
				both.ended(side, r, err)
				if err == nil && (side == 0 || look == nil) {
					c.events.Emit(report.CaseRan{Name: t.Entry.Name, Pass: pass, Old: side == 0, CPU: r.Cost.CPU, Wall: r.Cost.Wall, Engine: r.Engine, At: time.Now()})
				}
				if side == 1 && look != nil {
					look(r, both.errs[side])
				} else if r != nil {
					r.Release()
				}
			},
		})
	}
	for side, ran := range both.ran {
		if !ran {
			both.errs[side] = ctx.Err()
		}
	}
	return both
}

// ended notes what one of both took.
func (b *turns) ended(side int, r *exec.Result, err error) {
	b.ran[side] = true
	if b.errs[side] = err; err == nil {
		b.costs[side], b.endings[side] = r.Cost, r.Outcome.Ending
	}
}

// besides chooses the cases on which the rival runs in the first pass, right before or
// after the candidate: that is one run more of these, not two. Where the run may end with
// the first difference they would be for nothing.
func (c *checking) besides() (chosen map[int]bool, err error) {
	if c.o.Select.FailFast > 0 || c.costs.rival.command == nil {
		return nil, nil
	}
	chosen = map[int]bool{}
	r := rand.New(rand.NewPCG(uint64(len(c.cases)), 0))
	for _, i := range r.Perm(len(c.cases)) {
		if len(chosen) == c.o.Judge.CostCases {
			break
		}
		if !c.costs.rival.runs(c.cases[i].Name) {
			continue
		}
		old, known, err := c.base.Get(c.cases[i].Name)
		if err != nil {
			return nil, err
		}
		if known && comparable(&old.Outcome.Ending, &old.Outcome.Ending) {
			chosen[i] = true
		}
	}
	return chosen, nil
}

// takeBeside notes what came of the rival's run beside the first one of a case.
func (c *checking) takeBeside(t pass.Task, both *turns) error {
	k := &c.costs
	k.tried[t.Entry.Name]++
	c.summary.CPU += both.costs[0].CPU
	if c.name == report.CheckCommand { // else it ran for more than the figures
		k.took += both.costs[0].Wall / time.Duration(max(1, c.o.Limits.Jobs))
	}
	if both.errs[0] != nil {
		k.broken = both.errs[0]
	}
	if p, ok := both.pair(t); ok {
		return c.keepPair(p)
	}
	return nil
}

// keepPair adds a pair to those that the figures come from, and to what --resume has.
func (c *checking) keepPair(p cost.Pair) error {
	c.costs.pairs = append(c.costs.pairs, p)
	took := func(o outcome.Cost) state.Took {
		return state.Took{CPU: int64(o.CPU), Wall: int64(o.Wall), Peak: o.PeakRSS}
	}
	if err := c.costs.kept.Add(state.Pair{Name: []byte(p.Case), Old: took(p.Old), New: took(p.New)}); err != nil {
		return err
	}
	return c.flush()
}

// resumePairs takes over the pairs of an interrupted run.
func (c *checking) resumePairs() error {
	kept, list, err := c.run.OpenPairs()
	if err != nil {
		return err
	}
	c.costs.kept = kept
	took := func(t state.Took) outcome.Cost {
		return outcome.Cost{CPU: time.Duration(t.CPU), Wall: time.Duration(t.Wall), PeakRSS: t.Peak}
	}
	for _, p := range list {
		c.costs.tried[string(p.Name)]++
		c.costs.pairs = append(c.costs.pairs, cost.Pair{Case: string(p.Name), Old: took(p.Old), New: took(p.New)})
	}
	return nil
}
