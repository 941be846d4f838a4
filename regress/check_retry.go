package regress

import (
	"context"
	"maps"
	"slices"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// retried is what the further runs of a case came to.
type retried struct {
	err  error
	word report.Case
	cpu  time.Duration // of the further runs
}

// retry runs every case that was not identical again, on other lanes, and
// gives it its verdict.
func (c *checking) retry(ctx context.Context) error {
	tasks := make([]task, 0, len(c.firsts))
	for _, i := range slices.Sorted(maps.Keys(c.firsts)) {
		tasks = append(tasks, task{i, &c.cases[i]})
	}
	if runs := c.runsLeft(); runs > 0 {
		c.emit(report.PassStarted{Pass: 2, Runs: runs, At: time.Now()})
	}
	order := inOrder{tasks: tasks, ready: map[int]func(){}}
	err := runPass(ctx, c.session, tasks, c.again, func(t task, s retried) error { return c.takeRetried(&order, t, s) })
	order.flush()
	return err
}

// again runs a case as often as --retries says and judges.
func (c *checking) again(ctx context.Context, t task) (s retried) {
	name := t.entry.Name
	if s.err = c.further(ctx, t, &s.cpu); s.err != nil {
		return s
	}
	rec, _, err := c.found.get(name)
	if err != nil {
		return retried{err: err}
	}
	old, known, err := c.base.get(name)
	switch {
	case err != nil:
		s.err = err
	case known:
		s.err = c.held.hold(bytesOf(&old.Outcome)+bytesOf(&rec.Outcome), func() (err error) {
			s.word, err = c.judge(t.entry, &old, &rec)
			return err
		})
	default:
		s.word = report.Case{Verdict: outcome.New, Ending: &rec.Outcome.Ending, Cost: rec.Cost, Flaky: flakyParts(&rec.Outcome)}
	}
	return s
}

// runsLeft is how many runs the retries will be.
func (c *checking) runsLeft() (runs int) {
	for _, f := range c.firsts {
		runs += max(0, 1+c.o.Judge.Retries-f.runs)
	}
	if cmd, _ := c.base.beside(); cmd != nil {
		runs *= 2
	}
	return runs
}

// further makes the further runs of a case, each on another lane than the one
// before, and merges them into what is stored of it.
func (c *checking) further(ctx context.Context, t task, cpu *time.Duration) error {
	avoid := c.firsts[t.index].lane
	run := func(cmd *exec.Command, pass int, store *outcomes) error {
		if rec, _, err := store.get(t.entry.Name); err != nil || rec.Runs >= pass {
			return err // that one is done: an interrupted run had made it
		}
		r, err := c.once(ctx, t, cmd, pass, avoid, true)
		if err != nil {
			return err
		}
		defer r.Release()
		c.emit(report.CaseRan{Name: t.entry.Name, Pass: pass, CPU: r.Cost.CPU, Wall: r.Cost.Wall, Engine: engineRunOf(r), At: time.Now()})
		*cpu += r.Cost.CPU
		avoid = r.Lane
		_, err = store.merge(ctx, t.entry.Name, r, c.same)
		return err
	}
	reference, kept := c.base.beside()
	for pass := 2; pass <= 1+c.o.Judge.Retries; pass++ {
		if reference != nil {
			if err := run(reference, pass, kept); err != nil {
				return err
			}
		}
		if err := run(c.command.For(t.entry.Name), pass, c.found); err != nil {
			return err
		}
	}
	return nil
}

// judge gives the verdict on a case whose runs, merged, are in rec.
func (c *checking) judge(e *corpus.Entry, old, rec *golden.Record) (word report.Case, err error) {
	was, is := side{&old.Outcome, remembering(c.base.content)}, side{&rec.Outcome, remembering(c.found.content)}
	cmp, err := outcome.Compare(was.outcome, is.outcome, sameUnder(c.rules, was.open, is.open))
	if err != nil {
		return word, err
	}
	word = report.Case{
		Verdict: outcome.Judge(was.outcome, is.outcome, cmp),
		Ending:  &rec.Outcome.Ending, GoldenEnding: &old.Outcome.Ending,
		Cost: rec.Cost, Flaky: flakyParts(&rec.Outcome),
	}
	reference, _ := c.base.beside()
	if reference != nil { // its runs were of this check, too
		for _, part := range flakyParts(&old.Outcome) {
			if !slices.Contains(word.Flaky, part) {
				word.Flaky = append(word.Flaky, part)
			}
		}
	}
	known := reference == nil && rec.Outcome.KnownFlaky(&old.Outcome)
	if word.Verdict == outcome.Identical && !known {
		word.Verdict = outcome.Flaky // it was not identical at first
	}
	if err := c.differ(e.Name, e.Size, word.Verdict, was, is, cmp); err != nil {
		return word, err
	}
	word.Differences, word.More, err = differences(c.rules, was, is, cmp)
	return word, err
}

// takeRetried notes what the further runs of a case came to.
func (c *checking) takeRetried(order *inOrder, t task, s retried) error {
	if s.err != nil {
		order.add(t, func() {})
		return c.takeError(t, s.err)
	}
	c.summary.CPU += s.cpu
	s.word.Engine = c.firsts[t.index].onEngine
	order.add(t, func() { c.conclude(t, s.word) })
	return nil
}
