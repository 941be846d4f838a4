package bisect

import (
	"context"
	"errors"
	"fmt"
	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/analyse"
	"muster/regress/internal/bisection"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/run"
	"slices"
	"sync"
	"time"
)

// search runs the versions on the sources.
type search struct {
	run      *run.Run
	past     *pastrun.Past
	found    *cause.Found
	index    *cause.Index // of the causes
	how      Options
	began    time.Time
	base     *place.Golden   // the golden of the past run
	versions []*exec.Command // to search, by the index in how.Versions
	same     []int           // the first version with the same command
	sources  []source

	mu      sync.Mutex // guards the fields below, and the states of the sources
	ran     int
	failed  error // of the machine, the last one
	failing int
}

// source is a source and, for each of its causes, what each version shows.
type source struct {
	goal.Goal
	task   pass.Task
	was    *outcome.Outcome
	states [][]bisection.State // by the index in Goal.Causes, then by version
}

// prepare finds the executables of the versions, and the outcomes that the sources are compared with.
func (d *search) prepare(ctx context.Context, goals []goal.Goal) error {
	if err := d.run.Connect(ctx); err != nil {
		return err
	}
	for _, v := range d.how.Versions {
		d.same = append(d.same, slices.IndexFunc(d.how.Versions, func(w Version) bool { return slices.Equal(v.Words, w.Words) }))
		c, err := d.run.Execution.Crew.Resolve(v.Words)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", v.Where, v.Name, err)
		}
		d.versions = append(d.versions, c)
	}
	found, err := d.past.Run.OpenOutcomes()
	if err != nil {
		return err
	}
	for _, a := range goals {
		if err := d.probe(a, found); err != nil {
			return errors.Join(err, found.Close())
		}
	}
	return found.Close()
}

// probe adds a source. The golden must still have the outcome with which the run found its causes.
func (d *search) probe(a goal.Goal, found *golden.Store) error {
	t, err := d.run.Inputs.Find(name.Print(a.Name))
	if err != nil {
		return err
	}
	p := source{Goal: a, task: t}
	was, is, err := analyse.RunSides(d.base.Store, found, a.Name)
	if err != nil {
		return err
	}
	shown, err := analyse.Explain(d.run.Job.Rules, d.index, a.Name, t.Entry.Size, was, is)
	if err != nil {
		return err
	}
	if !analyse.ContainsAll(shown.Causes, a.Causes) {
		return fault.Inputf("the golden has now another outcome of %s than when run %s found its causes: run muster %s again", name.Print(a.Name), d.past.Run.ID, d.past.Run.Command)
	}
	p.was = was.Outcome
	p.was.Ignore(d.run.Job.Ignored.Match)
	for range a.Causes {
		p.states = append(p.states, make([]bisection.State, len(d.how.Versions)))
	}
	d.sources = append(d.sources, p)
	return nil
}

// cell is one version on one source.
type cell struct{ source, version int }

// runAll runs every version on every source once. Two versions with the same command are
// one.
func (d *search) runAll(ctx context.Context) error {
	var cells []cell
	for _, v := range bisection.Order(len(d.versions)) {
		for i := range d.sources {
			if d.same[v] == v {
				cells = append(cells, cell{i, v})
			}
		}
	}
	setup := d.run.Setup()
	setup.Lanes = max(1, min(d.run.Width().Goroutines, len(cells)))
	setup.Later = d.versions
	if err := d.run.Execution.Start(ctx, setup); err != nil {
		return err
	}
	d.run.Execution.Executor = run.NewSettler(d.run, d.base.Store).Decorate(d.run.Execution.Executor)
	return pass.EndError(ctx, pass.ForEach(ctx, d.run.Width().Goroutines, cells, func(ctx context.Context, c cell) error {
		if err := d.runCell(ctx, c); err != nil {
			return err
		}
		d.show(len(cells))
		return nil
	}))
}

func (d *search) runCell(ctx context.Context, c cell) error {
	p := &d.sources[c.source]
	r, err := exec.Run(ctx, d.run.Execution.Executor, exec.Job{Source: *p.task.Entry, Command: d.versions[c.version], Avoid: exec.NoLane})
	if err != nil {
		return d.markFailed(ctx, c, err)
	}
	defer r.Release()
	shown, err := analyse.Explain(d.run.Job.Rules, d.index, p.Name, p.task.Entry.Size, content.Side{Outcome: p.was, Open: d.base.Content}, content.Side{Outcome: &r.Outcome, Open: r.Open})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ran++
	for i, index := range p.Causes {
		d.mark(p.states[i], c.version, stateOf(slices.Contains(shown.Causes, index), shown.Verdict))
	}
	return nil
}

// stateOf returns what a run shows of a cause. A run that fails otherwise than the golden, and not as the cause
// describes, is inconclusive: its output may not be complete.
func stateOf(shows bool, v regress.Verdict) bisection.State {
	switch {
	case shows:
		return bisection.Shown
	case v == regress.Identical || v == regress.Changed || v == regress.NewlyPassing:
		return bisection.Absent
	}
	return bisection.Inconclusive
}

// mark sets a state, for all versions with the same command.
func (d *search) mark(states []bisection.State, version int, s bisection.State) {
	for i := range states {
		if d.same[i] == version {
			states[i] = s
		}
	}
}

// markFailed marks a run as inconclusive if the machine failed, and returns other errors.
func (d *search) markFailed(ctx context.Context, c cell, err error) error {
	if ctx.Err() != nil || regress.ClassOf(err) != regress.Environment {
		return err
	}
	p := &d.sources[c.source]
	d.run.Events.Warn(fmt.Sprintf("%s on %s: %v", d.how.Versions[c.version].Name, name.Print(p.Name), err))
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range p.Causes {
		d.mark(p.states[i], c.version, bisection.Inconclusive)
	}
	d.failed = err
	if d.failing++; d.failing >= pass.EnvironmentMax {
		return err
	}
	return nil
}

// show shows how far the search is.
func (d *search) show(all int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	done := d.ran + d.failing
	took := time.Since(d.began)
	left := took / time.Duration(done) * time.Duration(all-done)
	d.how.Status(fmt.Sprintf("%s of %s, %s left", readable.Number(done), readable.Count(all, "run"), readable.Duration(left)))
}

// runs counts the runs of the whole search.
func (d *search) runs() (n int) {
	for i, first := range d.same {
		if first == i {
			n += len(d.sources)
		}
	}
	return n
}
