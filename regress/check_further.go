package regress

import (
	"context"
	"time"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/report"
)

// judgement is the result of the further runs of a case.
type judgement struct {
	err  error
	word report.Case
	cpu  time.Duration // of the further runs
}

// runsWanted returns how many runs a case gets in all, the first included.
func (c *checking) runsWanted(f firstRun) int {
	if f.alike {
		return max(1, c.o.Judge.Runs)
	}
	return 1 + c.o.Judge.Retries
}

// runsLeft returns how many further runs these cases still get.
func (c *checking) runsLeft(firsts []firstRun) (runs int) {
	for _, f := range firsts {
		runs += max(0, c.runsWanted(f)-f.runs)
	}
	if c.reference != nil {
		runs *= 2
	}
	return runs
}

// judgeFurther makes the further runs of a case, and then judges the case.
func (c *checking) judgeFurther(ctx context.Context, f firstRun) (j judgement) {
	further := furtherRuns{c: c, first: f, avoid: f.lane, equal: f.equal()}
	if j.err = further.run(ctx); j.err != nil {
		return j
	}
	if j.word, j.err = c.judge(f); j.err != nil {
		return j
	}
	j.cpu, j.word.Engine = further.cpu, f.onEngine
	j.word.Ignored = content.Union(j.word.Ignored, further.left.Ignored)
	return j
}

// furtherRuns are the runs of a case after its first one.
type furtherRuns struct {
	c     *checking
	first firstRun
	avoid int // the lane of the run before
	equal int // runs that equalled the golden before the first one that is stored
	cpu   time.Duration
	left  content.Uncompared // in these runs
}

// run makes the runs, each on another lane than the one before. It merges them into the
// stored record of the case.
func (f *furtherRuns) run(ctx context.Context) error {
	c, name := f.c, f.first.task.Entry.Name
	for pass := 2; pass <= c.runsWanted(f.first); pass++ {
		if c.reference != nil {
			if err := f.runReference(ctx, c.reference, pass); err != nil {
				return err
			}
		}
		rec, _, err := c.found.Get(name)
		if err != nil {
			return err
		}
		if rec.Runs >= pass {
			continue // an interrupted run made it
		}
		if err := f.once(ctx, c.commands.For(name), pass, f.compare); err != nil {
			return err
		}
	}
	return nil
}

// once makes one run and hands it to take.
func (f *furtherRuns) once(ctx context.Context, cmd *exec.Command, pass int, take func(context.Context, *exec.Result) error) error {
	t := f.first.task
	r, err := f.c.runner().RunOnce(ctx, t, cmd, pass, f.avoid, true)
	if err != nil {
		return err
	}
	defer r.Release()
	f.c.events.Emit(report.CaseRan{Name: t.Entry.Name, Pass: pass, CPU: r.Cost.CPU, Wall: r.Cost.Wall, Engine: r.Engine, At: time.Now()})
	f.cpu += r.Cost.CPU
	f.avoid = r.Lane
	return take(ctx, r)
}

// compare compares a run with the golden. It stores the run unless all runs so far equal
// the golden.
func (f *furtherRuns) compare(ctx context.Context, r *exec.Result) error {
	c, name := f.c, f.first.task.Entry.Name
	l, left, err := c.compare(name, r)
	if err != nil {
		return err
	}
	f.left.Ignored = content.Union(f.left.Ignored, left.Ignored)
	_, stored, err := c.found.Get(name)
	switch {
	case err != nil:
		return err
	case stored:
		return c.found.Merge(ctx, name, r, l, c.comparer.Same)
	case l == keep.Alike:
		f.equal++
		return nil
	case f.equal == 0:
		return c.found.Put(ctx, name, r, l)
	}
	old, _, err := c.base.Get(name)
	if err != nil {
		return err
	}
	return c.found.PutAfter(ctx, keep.FirstRecord(name, r, l), r.Open, f.equal, keep.Equalled{Outcome: &old.Outcome, Open: c.base.Content, Same: c.comparer.Same})
}

// runReference runs the reference of a compare once more.
func (f *furtherRuns) runReference(ctx context.Context, reference *reference, pass int) error {
	name := f.first.task.Entry.Name
	if rec, _, err := reference.Get(name); err != nil || rec.Runs >= pass {
		return err
	}
	return f.once(ctx, reference.command, pass, func(ctx context.Context, r *exec.Result) error {
		return reference.Merge(ctx, name, r, keep.Unmatched, f.c.comparer.Same)
	})
}
