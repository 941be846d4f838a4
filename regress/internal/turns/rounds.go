package turns

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/cost"
	"muster/regress/internal/exec"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
)

// How precise the figures should be, and how long that may take beside the run itself.
const (
	precisionWanted = 0.02                   // to either side: a twentieth more is seldom missed
	costPart        = 10                     // more pairs may take this part of the time that the run took,
	costLeast       = 100 * time.Millisecond // or this, which nobody notices,
	costTimeLimited = 20 * time.Second       // or with --fail-on this, or as long as the run took
)

// patience returns how long runs for the figures alone may take, after a run of the given time
// that made some pairs.
func patience(limits []cost.Limit, pairs []cost.Pair, ran time.Duration) time.Duration {
	switch {
	case len(limits) > 0:
		return max(costTimeLimited, ran)
	case len(pairs) == 0:
		return max(costLeast, ran)
	}
	return max(costLeast, ran/costPart)
}

// runRounds runs both commands on some cases, round by round, until the figures are precise or
// have taken long enough. No case runs a second time before all have run once.
func (m *Measurement) runRounds(ctx context.Context) error {
	cases := slices.Concat(m.paired, m.cases)
	order := rand.New(rand.NewPCG(uint64(len(cases)), 0)) // the same each time
	order.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	began := time.Now()
	most, before := patience(m.o.Limits, m.pairs, began.Sub(m.o.Began)), m.took
	for round := 0; round < roundsMax && m.broken == nil; round++ {
		estimate := cost.NewEstimate(m.pairs, m.executor.Floor())
		if estimate.CPU.Precision() <= precisionWanted || allDecided(m.o.Limits, estimate) {
			return nil
		}
		slices.SortStableFunc(cases, func(a, b caseCost) int { return cmp.Compare(m.tried[a.name()], m.tried[b.name()]) })
		next := cases[:min(m.o.CostCases, len(cases))]
		if urgent := len(m.o.Limits) > 0 && !estimate.CPU.Bounded() && round < roundsMax/4; !urgent {
			next = fitting(next, m.o.Lanes, most-time.Since(began))
		}
		if len(next) == 0 {
			return nil
		}
		if err := m.round(ctx, next, round, func(p cost.Pair) { m.pairs = append(m.pairs, p) }); err != nil {
			return err
		}
		m.took = before + time.Since(began)
	}
	return nil
}

// fitting returns the first cases, as many as can run in turns in the time that is left. The last
// one may exceed the rest of the time, but not all of it: large cases count most.
func fitting(cases []caseCost, atOnce int, left time.Duration) []caseCost {
	lanes := time.Duration(max(1, min(atOnce, len(cases))))
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

// confirmRounds is the number of further pairs that decide whether a case is one of the worst.
const confirmRounds = 3

// confirm runs the cases again that seem to have become slow, the worst first, while its time
// lasts.
func (m *Measurement) confirm(ctx context.Context, e *cost.Estimate) error {
	suspects := e.Suspects()
	var cases []caseCost
	for _, one := range slices.Concat(m.paired, m.cases) {
		if slices.Contains(suspects, one.name()) {
			cases = append(cases, one)
		}
	}
	slices.SortFunc(cases, func(a, b caseCost) int {
		return cmp.Compare(slices.Index(suspects, a.name()), slices.Index(suspects, b.name()))
	})
	cases = fitting(cases, m.o.Lanes, patience(m.o.Limits, m.pairs, time.Since(m.o.Began))/confirmRounds)
	var further []cost.Pair
	for round := range confirmRounds {
		if len(cases) == 0 || m.broken != nil {
			return nil
		}
		if err := m.round(ctx, cases, round, func(p cost.Pair) { further = append(further, p) }); err != nil {
			return err
		}
	}
	e.Confirm(further)
	return nil
}

// round runs each case once with both commands, in turns which goes first.
func (m *Measurement) round(ctx context.Context, cases []caseCost, round int, take func(cost.Pair)) error {
	number := m.o.FirstPass + round
	m.o.Sink.Emit(report.PassStarted{Pass: number, Runs: 2 * len(cases), Costs: true, At: time.Now()})
	tasks := make([]pass.Task, len(cases))
	first := make(map[int]int, len(cases))
	for i, one := range cases {
		tasks[i] = one.task
		first[one.task.Index] = (m.tried[one.name()] + one.task.Index) % 2
	}
	return pass.Run(ctx, m.o.Lanes, tasks, func(ctx context.Context, t pass.Task) Turn {
		return m.RunBoth(ctx, t, number, first[t.Index], nil)
	}, func(t pass.Task, both Turn) error {
		return m.takeTurn(t, both, take)
	})
}

// takeTurn counts a turn, and hands its pair to take. A rival that fails ends the pass.
func (m *Measurement) takeTurn(t pass.Task, both Turn, take func(cost.Pair)) error {
	m.tried[t.Entry.Name]++
	m.o.Sink.AddCPU(both.costs[OldRun].CPU + both.costs[NewRun].CPU)
	switch rival := both.errs[OldRun]; {
	case both.errs[NewRun] != nil:
		return both.errs[NewRun]
	case rival != nil && regress.ClassOf(rival) == regress.Interrupted:
		return rival
	case rival != nil:
		m.broken = rival
		return pass.ErrStop
	}
	if p, ok := both.pair(t); ok {
		take(p)
	}
	return nil
}

// RunBoth runs both commands on a case, one right after the other on one lane. first is the side
// that begins. look gets the candidate's result, which it reports and releases, unless it is nil.
func (m *Measurement) RunBoth(ctx context.Context, t pass.Task, pass, first int, look func(*exec.Result, error)) (both Turn) {
	commands := [2]*exec.Command{m.o.Rival.Command, m.o.Command(t.Entry.Name)}
	for done := 0; done < 2 && ctx.Err() == nil; {
		var jobs []exec.Job
		for n := done; n < 2; n++ {
			jobs = append(jobs, exec.Job{Source: *t.Entry, Command: commands[(n+first)%2], Avoid: exec.NoLane})
		}
		from := done
		done += m.executor.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(int) { m.o.Sink.Emit(report.CaseStarted{Name: t.Entry.Name, Pass: pass, At: time.Now()}) },
			Ended: func(i int, r *exec.Result, err error) {
				side := (from + i + first) % 2
				both.Record(side, r, err)
				if err == nil && (side == OldRun || look == nil) {
					m.o.Sink.Emit(report.CaseRan{Name: t.Entry.Name, Pass: pass, Old: side == OldRun, CPU: r.Cost.CPU, Wall: r.Cost.Wall, Engine: r.Engine, At: time.Now()})
				}
				if side == NewRun && look != nil {
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

// allDecided reports whether the estimate decides all limits. It is false without limits.
func allDecided(limits []cost.Limit, e cost.Estimate) bool {
	return len(limits) > 0 && !slices.ContainsFunc(limits, func(l cost.Limit) bool { return !l.Decided(e) && (l.Inconclusive(e) || l.Of(e).IsKnown()) })
}
