// Package bisect finds the version of a command that brought each cause of a past check, and the one
// that took it away.
//
// It runs versions on the smallest case of each cause, and compares with the golden of the check. It
// must not write to a golden or a state folder.
package bisect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"muster/internal/readable"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/bisection"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/opt"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/run"
)

// Version is one of the commands to search.
type Version struct {
	Name  string
	Words []string
	Where string // it stands, for errors
}

// Bisection says what to search for, and where.
type Bisection struct {
	Target   string // the ID of a cause, or the name of a case; "" = all causes
	Run      string // ID of the run, or its beginning; "" = the last
	Versions []Version
	Status   func(string) // shows how far it is, and before results nothing; may be nil
}

// Run runs each version on the smallest source of each cause, once, and prints which
// of them brought the cause, and which took it away and brought it again. When ctx ends it
// prints what is known by then, and returns an error of class Interrupted.
func Run(ctx context.Context, o opt.Options, h host.Host, b Bisection) (err error) {
	if b.Status == nil {
		b.Status = func(string) {}
	}
	p, err := pastrun.OpenLast(&o, h, b.Run)
	if err != nil {
		return err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return err
	}
	goals, err := findGoals(ctx, p, found, b.Target)
	if err != nil {
		return err
	}
	names := make([]string, len(goals))
	for i, a := range goals {
		names[i] = a.Name
	}
	s, err := goal.OpenAgain(ctx, p, &o, h, job.BisectCommand, names)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := goal.WarnIfCorpusChanged(ctx, p, s); err != nil {
		return err
	}
	d := &bisecting{run: s, past: p, found: found, index: cause.NewIndex(found.Causes), how: b, began: time.Now()}
	if d.base, err = p.Run.OpenBase(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.base.Close()) }()
	if err := d.prepare(ctx, goals); err != nil {
		return err
	}
	return d.conclude(ctx, d.runAll(ctx))
}

// findGoals returns what a word names, or all causes, each case once.
func findGoals(ctx context.Context, p *pastrun.Past, found *cause.Found, word string) (list []goal.Goal, err error) {
	if word != "" {
		a, err := goal.Find(ctx, p, found, word)
		return []goal.Goal{a}, err
	}
	for i, c := range found.Causes {
		at := slices.IndexFunc(list, func(a goal.Goal) bool { return a.Name == c.Smallest })
		if at < 0 {
			at, list = len(list), append(list, goal.Goal{Name: c.Smallest})
		}
		list[at].Causes = append(list[at].Causes, i)
	}
	if len(list) == 0 {
		return nil, fault.Emptyf("run %s has no causes: nothing differed", p.Run.ID)
	}
	return list, nil
}

// bisecting is a search under way.
type bisecting struct {
	run      *run.Run
	past     *pastrun.Past
	found    *cause.Found
	index    *cause.Index // of the causes
	how      Bisection
	began    time.Time
	base     *place.Golden   // what the sources are compared with
	versions []*exec.Command // to search, by the index in how.Versions
	same     []int           // the first version with the same command
	sources  []probed

	mu      sync.Mutex // guards what follows, and the states of the sources
	ran     int
	failed  error // of the machine, the last one
	failing int
}

// probed is a source with what each version shows of its causes.
type probed struct {
	goal.Goal
	task   pass.Task
	was    *outcome.Outcome
	states [][]bisection.State // by the index in goal.causes, then by version
}

// prepare finds the executables, and what each source is compared with.
func (d *bisecting) prepare(ctx context.Context, goals []goal.Goal) error {
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

// probe makes a source ready: what it is compared with must be what it was when the run
// found its causes.
func (d *bisecting) probe(a goal.Goal, found *golden.Store) error {
	t, err := d.run.Inputs.Find(name.Print(a.Name))
	if err != nil {
		return err
	}
	p := probed{Goal: a, task: t}
	was, is, err := analyse.RunSides(d.base.Store, found, a.Name)
	if err != nil {
		return err
	}
	told, err := analyse.Explain(d.run.Job.Rules, d.index, a.Name, t.Entry.Size, was, is)
	if err != nil {
		return err
	}
	if !analyse.ContainsAll(told.Causes, a.Causes) {
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
func (d *bisecting) runAll(ctx context.Context) error {
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

func (d *bisecting) runCell(ctx context.Context, c cell) error {
	p := &d.sources[c.source]
	r, err := d.run.Execution.Executor.Run(ctx, exec.Job{Source: *p.task.Entry, Command: d.versions[c.version], Avoid: exec.NoLane})
	if err != nil {
		return d.machine(ctx, c, err)
	}
	defer r.Release()
	told, err := analyse.Explain(d.run.Job.Rules, d.index, p.Name, p.task.Entry.Size, content.Side{Outcome: p.was, Open: d.base.Content}, content.Side{Outcome: &r.Outcome, Open: r.Open})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ran++
	for i, index := range p.Causes {
		d.note(p.states[i], c.version, stateOf(slices.Contains(told.Causes, index), told.Verdict, d.found.Causes[index].Kind))
	}
	return nil
}

// stateOf says what a run tells of a cause. One that ended otherwise than the golden, and
// not as the cause has it, hides what the output would have been.
func stateOf(shows bool, v outcome.Verdict, k cause.Kind) bisection.State {
	switch {
	case shows:
		return bisection.Shown
	case v == outcome.Identical || v == outcome.Changed || analyse.IsEnding(k) && v == outcome.NewlyPassing:
		return bisection.Absent
	}
	return bisection.Inconclusive
}

// note writes a state down, for all versions with the same command.
func (d *bisecting) note(states []bisection.State, version int, s bisection.State) {
	for i := range states {
		if d.same[i] == version {
			states[i] = s
		}
	}
}

// machine takes a run that the machine failed for one that tells nothing.
func (d *bisecting) machine(ctx context.Context, c cell, err error) error {
	if ctx.Err() != nil || fault.ClassOf(err) != fault.Environment {
		return err
	}
	p := &d.sources[c.source]
	d.run.Events.Warn(fmt.Sprintf("%s on %s: %v", d.how.Versions[c.version].Name, name.Print(p.Name), err))
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range p.Causes {
		d.note(p.states[i], c.version, bisection.Inconclusive)
	}
	d.failed = err
	if d.failing++; d.failing >= pass.EnvironmentMax {
		return err
	}
	return nil
}

// show says how far it is.
func (d *bisecting) show(all int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	done := d.ran + d.failing
	took := time.Since(d.began)
	left := took / time.Duration(done) * time.Duration(all-done)
	d.how.Status(fmt.Sprintf("%d of %s, %v left", done, readable.Count(all, "run"), left.Round(time.Second)))
}
