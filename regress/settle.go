package regress

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// settled is what the further runs of a case came to.
type settled struct {
	err       error
	word      report.Case
	record    golden.Record // the first run's, with flaky parts marked
	marked    bool
	reference *golden.Record // of a compare, if it had flaky parts marked
	cpu       time.Duration  // of the further runs
}

// settle runs every case that was not identical again, on other lanes, and
// gives it its verdict.
func (c *checking) settle(ctx context.Context) error {
	found, err := c.found.finish()
	if err != nil || found == nil {
		return err
	}
	if c.pair != nil {
		if c.base, err = c.pair.references.finish(); err != nil {
			return errors.Join(err, found.Close())
		}
	}
	tasks := make([]task, 0, len(c.firsts))
	for _, i := range slices.Sorted(maps.Keys(c.firsts)) {
		tasks = append(tasks, task{i, c.cases[i]})
	}
	runs := len(tasks) * c.o.Judge.Retries
	if c.pair != nil {
		runs *= 2
	}
	if runs > 0 {
		c.emit(report.PassStarted{Pass: 2, Runs: runs, At: time.Now()})
	}
	order := inOrder{tasks: tasks, ready: map[int]func(){}}
	err = sweep(ctx, c.session, tasks, func(ctx context.Context, w *worker, t task) settled {
		return c.again(ctx, w, t, found)
	}, func(t task, s settled) error { return c.takeSettled(&order, t, s) })
	order.flush()
	if e := found.Close(); err == nil {
		err = e
	}
	if c.pair != nil {
		if e := c.base.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	return c.amend()
}

// amend keeps which parts turned out to be flaky.
func (c *checking) amend() error {
	if err := amend(c.run.Outcomes(), c.amended); err != nil || c.pair == nil {
		return err
	}
	return amend(c.run.References(), c.pair.amended)
}

// again runs a case as often as --retries says and judges.
func (c *checking) again(ctx context.Context, w *worker, t task, found *golden.Store) (s settled) {
	old, known, err := c.base.Get(t.entry.Name)
	if err != nil {
		return settled{err: err}
	}
	if s.record, _, s.err = found.Get(t.entry.Name); s.err != nil {
		return s
	}
	avoid := c.firsts[t.index].lane
	for n := range c.o.Judge.Retries {
		if c.pair != nil {
			marked, err := s.rerun(ctx, w, t, c.pair.reference, 2+n, &avoid, &old, c.base)
			if err != nil {
				return settled{err: err}
			}
			if marked {
				s.reference = &old
			}
		}
		marked, err := s.rerun(ctx, w, t, c.For(t.entry.Name), 2+n, &avoid, &s.record, found)
		if err != nil {
			return settled{err: err}
		}
		s.marked = s.marked || marked
	}
	if known {
		s.word, s.err = c.judge(&old, &s.record, found)
	} else {
		s.word = report.Case{Verdict: outcome.New, Ending: &s.record.Outcome.Ending, Cost: s.record.Cost, Flaky: flakyParts(&s.record.Outcome)}
	}
	return s
}

// rerun runs a case once more and marks in rec, whose contents are in store,
// what is not the same as before.
func (s *settled) rerun(ctx context.Context, w *worker, t task, cmd *exec.Command, pass int, avoid *int, rec *golden.Record, store *golden.Store) (marked bool, err error) {
	r, err := w.once(ctx, t, cmd, pass, *avoid)
	if err != nil {
		return false, err
	}
	defer r.Release()
	w.tell(report.CaseRan{Name: t.entry.Name, Pass: pass, CPU: r.Cost.CPU, Wall: r.Cost.Wall, At: time.Now()})
	s.cpu += r.Cost.CPU
	*avoid = r.Lane
	rec.Runs++
	return outcome.MarkFlaky(&rec.Outcome, &r.Outcome, sameUnder(w.s.rules, store.Content, r.Open))
}

// judge gives the verdict on a case whose first outcome, with its flaky parts
// marked, is in rec.
func (c *checking) judge(old, rec *golden.Record, found *golden.Store) (word report.Case, err error) {
	was, is := side{&old.Outcome, c.base.Content}, side{&rec.Outcome, found.Content}
	cmp, err := outcome.Compare(was.outcome, is.outcome, sameUnder(c.rules, was.open, is.open))
	if err != nil {
		return word, err
	}
	word = report.Case{
		Verdict: outcome.Judge(was.outcome, is.outcome, cmp),
		Ending:  &rec.Outcome.Ending, GoldenEnding: &old.Outcome.Ending,
		Cost: rec.Cost, Flaky: flakyParts(&rec.Outcome),
	}
	if c.pair != nil {
		for _, part := range flakyParts(&old.Outcome) {
			if !slices.Contains(word.Flaky, part) {
				word.Flaky = append(word.Flaky, part)
			}
		}
	}
	if word.Verdict == outcome.Identical {
		word.Verdict = outcome.Flaky // it was not identical at first
	}
	word.Differences, word.More, err = differences(c.rules, was, is, cmp)
	return word, err
}

// takeSettled notes what the further runs of a case came to.
func (c *checking) takeSettled(order *inOrder, t task, s settled) error {
	if s.err != nil {
		order.add(t, func() {})
		return c.takeError(t, s.err)
	}
	c.summary.CPU += s.cpu
	if s.marked {
		c.amended[t.entry.Name] = s.record
	}
	if s.reference != nil {
		c.pair.amended[t.entry.Name] = *s.reference
	}
	order.add(t, func() { c.conclude(t, s.word) })
	return nil
}

// inOrder does things for tasks in the order of the tasks, whichever is ready
// first: what a check says should not depend on which lane was faster.
type inOrder struct {
	tasks []task // still to come
	ready map[int]func()
}

// readyMax bounds how much waits for one slow case; beyond it the order is
// given up.
const readyMax = 1000

func (o *inOrder) add(t task, do func()) {
	o.ready[t.index] = do
	if len(o.ready) > readyMax {
		o.flush()
		return
	}
	for len(o.tasks) > 0 {
		next := o.tasks[0].index
		do, ok := o.ready[next]
		if !ok {
			return
		}
		delete(o.ready, next)
		o.tasks = o.tasks[1:]
		do()
	}
}

// flush does all that is ready.
func (o *inOrder) flush() {
	for _, index := range slices.Sorted(maps.Keys(o.ready)) {
		o.ready[index]()
		delete(o.ready, index)
	}
}
