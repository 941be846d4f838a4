package regress

import (
	"context"
	"io"
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
	err  error
	word report.Case
	cpu  time.Duration // of the further runs
}

// settle runs every case that was not identical again, on other lanes, and
// gives it its verdict.
func (c *checking) settle(ctx context.Context) error {
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
	err := sweep(ctx, c.session, tasks, c.again, func(t task, s settled) error { return c.takeSettled(&order, t, s) })
	order.flush()
	return err
}

// again runs a case as often as --retries says and judges.
func (c *checking) again(ctx context.Context, w *worker, t task) (s settled) {
	name := t.entry.Name
	if s.err = c.further(ctx, w, t, &s.cpu); s.err != nil {
		return s
	}
	rec, _, err := c.found.get(name)
	if err != nil {
		return settled{err: err}
	}
	old, known, err := c.baseline(name)
	switch {
	case err != nil:
		s.err = err
	case known:
		s.word, s.err = c.judge(&old, &rec)
	default:
		s.word = report.Case{Verdict: outcome.New, Ending: &rec.Outcome.Ending, Cost: rec.Cost, Flaky: flakyParts(&rec.Outcome)}
	}
	return s
}

// further makes the further runs of a case, each on another lane than the one
// before, and merges them into what is stored of it.
func (c *checking) further(ctx context.Context, w *worker, t task, cpu *time.Duration) error {
	avoid := c.firsts[t.index].lane
	run := func(cmd *exec.Command, pass int, store *outcomes) error {
		r, err := w.once(ctx, t, cmd, pass, avoid)
		if err != nil {
			return err
		}
		defer r.Release()
		w.tell(report.CaseRan{Name: t.entry.Name, Pass: pass, CPU: r.Cost.CPU, Wall: r.Cost.Wall, At: time.Now()})
		*cpu += r.Cost.CPU
		avoid = r.Lane
		_, err = store.merge(ctx, t.entry.Name, r, c.rules)
		return err
	}
	for n := range c.o.Judge.Retries {
		if c.pair != nil {
			if err := run(c.pair.reference, 2+n, c.pair.references); err != nil {
				return err
			}
		}
		if err := run(c.For(t.entry.Name), 2+n, c.found); err != nil {
			return err
		}
	}
	return nil
}

// baseline returns what a case that differs is compared with.
func (c *checking) baseline(name string) (golden.Record, bool, error) {
	if c.pair != nil {
		return c.pair.references.get(name)
	}
	return c.base.Get(name)
}

func (c *checking) baseContent(p outcome.Part) (io.ReadCloser, error) {
	if c.pair != nil {
		return c.pair.references.content(p)
	}
	return c.base.Content(p)
}

// judge gives the verdict on a case whose runs, merged, are in rec.
func (c *checking) judge(old, rec *golden.Record) (word report.Case, err error) {
	was, is := side{&old.Outcome, c.baseContent}, side{&rec.Outcome, c.found.content}
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
