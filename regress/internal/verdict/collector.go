package verdict

import (
	"maps"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// collector collects the results of runs, and gives each case its verdict. One goroutine at a time
// calls its methods.
type collector struct {
	o        Options
	failures failureCounter

	undecided map[int]undecidedCase // by index
	waiting   waitingRoom           // undecided cases that may run again during the first pass
	order     pass.InOrder          // in which the verdicts of undecided cases are reported
	differing int                   // undecided cases that --fail-fast counts
	progress  []progress            // of each case, by index
	held      []heldFork            // identical cases whose forks may be retracted
	unstable  int                   // cases whose runs differ from the baseline and from each other
}

// progress says how far a case has come.
type progress uint8

const (
	undecided progress = iota
	failed             // it could not run
	decided            // it has its verdict
)

func (c *collector) takeFirst(t pass.Task, r firstResult) error {
	if r.err != nil {
		if err := c.takeError(t, r.err); err != nil {
			return err
		}
		return c.enough()
	}
	ran := report.CaseRan{
		Name: t.Entry.Name, Pass: 1, Differs: !r.identical,
		Expected: c.o.Due.Of(t.Index), Engine: r.onEngine, Reused: r.reused, Forked: r.forked, At: time.Now(),
	}
	if !r.reused { // else its cost is that of an earlier run
		ran.CPU, ran.Wall = r.cost.CPU, r.cost.Wall
	}
	c.o.Events.Emit(ran)
	c.o.Ledger.Summary.CPU += ran.CPU
	if r.beside != nil {
		if err := c.o.Costs.AddFirst(t, r.beside); err != nil {
			return err
		}
	}
	if r.forked && r.identical {
		c.held = append(c.held, heldFork{t, r})
		return c.failures.add(t.Entry.Name, r)
	}
	if err := c.o.Journal.addLine(r.line(t.Entry.Name)); err != nil {
		return err
	}
	if err := c.failures.add(t.Entry.Name, r); err != nil {
		return err
	}
	if r.identical {
		c.addIdentical(t, r)
		return nil
	}
	c.addUndecided(undecidedCase{task: t, lane: r.lane, runs: 1, onEngine: r.onEngine, reused: r.reused})
	return c.enough()
}

// heldFork is an identical case that a fork ran. It has its verdict once no fork is in doubt.
type heldFork struct {
	task  pass.Task
	first firstResult
}

// AcceptForks gives the cases that forks ran their verdicts. They have none before.
func (c *collector) AcceptForks() error {
	for _, h := range c.held {
		if err := c.o.Journal.addLine(h.first.line(h.task.Entry.Name)); err != nil {
			return err
		}
		c.addIdentical(h.task, h.first)
	}
	c.held = nil
	return nil
}

// RetractForks forgets the results of forks, and returns the tasks, which have to run again.
func (c *collector) RetractForks() (tasks []pass.Task) {
	for _, h := range c.held {
		c.o.Events.Emit(report.Retracted{Name: h.task.Entry.Name, Expected: c.o.Due.Of(h.task.Index), At: time.Now()})
		c.o.Ledger.Summary.Retracted++
		tasks = append(tasks, h.task)
	}
	c.held = nil
	return tasks
}

// line returns the journal's line of a first run.
func (r *firstResult) line(caseName string) state.Line {
	return state.Line{
		Name: []byte(caseName), Identical: r.identical, Kind: r.ending.Kind, Code: r.ending.Code,
		CPU: int64(r.cost.CPU), Wall: int64(r.cost.Wall), Peak: r.cost.PeakRSS, Engine: r.onEngine,
		Ignored: name.PrintAll(r.left.Ignored), Reused: r.reused, Forked: r.forked,
	}
}

// enough returns pass.ErrStop if --fail-fast ends the first pass.
func (c *collector) enough() error {
	if c.o.FailFast > 0 && c.differing+c.o.Ledger.Summary.Verdicts[regress.EnvironmentFailed] >= c.o.FailFast {
		return pass.ErrStop
	}
	return nil
}

// addUndecided adds a case whose first run was not identical. --fail-fast does not count a new
// case if new cases are allowed. Whether another allowed verdict will come is not known yet.
func (c *collector) addUndecided(u undecidedCase) {
	c.undecided[u.task.Index] = u
	c.waiting.add(u)
	if c.o.Judge.Baseline.Has(u.task.Entry.Name) || !c.o.AllowNew {
		c.differing++
	}
}

// addIdentical adds a case whose first run was identical. The case has its verdict, unless --runs
// asks for more runs.
func (c *collector) addIdentical(t pass.Task, r firstResult) {
	u := undecidedCase{task: t, lane: r.lane, runs: 1, onEngine: r.onEngine, reused: r.reused, alike: true}
	if c.o.Numbers.of(u) > 1 {
		r.beside = nil // the costs have it
		u.first = new(r)
		c.undecided[t.Index] = u
		c.waiting.add(u)
		return
	}
	c.conclude(t, r.identicalCase())
}

// listUndecided lists the cases that have no verdict yet, in corpus order. It also returns the
// tasks of all cases whose verdicts are not reported yet.
func (c *collector) listUndecided() (cases []undecidedCase, unreported []pass.Task) {
	for _, i := range slices.Sorted(maps.Keys(c.undecided)) {
		u := c.undecided[i]
		ready := c.order.Has(u.task)
		if ready || c.progress[i] != decided {
			unreported = append(unreported, u.task)
		}
		if !ready && c.progress[i] != decided {
			cases = append(cases, u)
		}
	}
	return cases, unreported
}

// takeFurther takes the verdict on a case after its further runs.
func (c *collector) takeFurther(t pass.Task, j judgement) error {
	if j.err != nil {
		if c.order.Expects() {
			c.order.Add(t, func() {})
		}
		return c.takeError(t, j.err)
	}
	c.o.Ledger.Summary.CPU += j.cpu
	c.order.Add(t, func() { c.conclude(t, j.judged) })
	return nil
}

// takeError takes the error of a case that could not run.
func (c *collector) takeError(t pass.Task, err error) error {
	c.progress[t.Index] = failed
	if regress.ClassOf(err) == regress.Environment {
		c.progress[t.Index] = decided
	}
	return c.o.Ledger.EnvironmentFailed(t, err)
}

func (c *collector) conclude(t pass.Task, judged report.Case) {
	judged.Name, judged.Index = t.Entry.Name, t.Index
	c.progress[t.Index] = decided
	if judged.Unstable {
		c.unstable++
	}
	if !judged.Reused && !judged.Forked {
		c.o.Costs.AddCase(t, &judged)
	}
	c.o.Ledger.Verdict(judged)
}

// failureCounter counts the first runs that fail newly, until another run comes.
type failureCounter struct {
	base  Baseline
	cases int    // selected
	warn  func() // called once if the first cases that ran all fail and did not fail before

	count   int
	stopped bool
	warned  bool
}

func (f *failureCounter) add(caseName string, r firstResult) error {
	f.stopped = f.stopped || r.identical || r.ending.Success()
	if f.stopped {
		return nil
	}
	old, known, err := f.base.Get(caseName)
	if f.stopped = known && !old.Outcome.Ending.Success(); err != nil || f.stopped {
		return err
	}
	if f.count++; f.count == pass.FailingFirst && f.cases != pass.FailingFirst {
		f.warned = true
		f.warn()
	}
	return nil
}
