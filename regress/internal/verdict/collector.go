package verdict

import (
	"iter"
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

	undecided []undecidedRef // by index; nil before the first one
	waiting   waitingRoom    // undecided cases that may run again during the first pass
	order     pass.InOrder   // in which the verdicts of undecided cases are reported
	differing int            // undecided cases that --fail-fast counts
	progress  []progress     // of each case, by index
	held      []heldFork     // identical cases whose forks may be retracted
	unstable  int            // cases whose runs differ from the baseline and from each other
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
		c.o.Costs.AddFirst(t, r.beside)
	}
	if r.forked && r.identical {
		c.held = append(c.held, heldFork{t, r})
		return c.failures.add(t.Entry.Name, r)
	}
	line := r.line(t.Entry.Name)
	at, err := c.o.Journal.addLine(line)
	if err != nil {
		return err
	}
	if err := c.failures.add(t.Entry.Name, r); err != nil {
		return err
	}
	if r.identical {
		c.addIdentical(t, r, at)
		return nil
	}
	c.addDiffering(undecidedCase{t, r.lane, line}, at, 1)
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
		at, err := c.o.Journal.addLine(h.first.line(h.task.Entry.Name))
		if err != nil {
			return err
		}
		c.addIdentical(h.task, h.first, at)
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
		Ignored: name.PrintAll(r.left.Ignored), Reused: r.reused, Forked: r.forked, Silent: r.silent,
	}
}

// enough returns pass.ErrStop if --fail-fast ends the first pass.
func (c *collector) enough() error {
	if c.o.FailFast > 0 && c.differing+c.o.Ledger.Summary.Verdicts[regress.EnvironmentFailed] >= c.o.FailFast {
		return pass.ErrStop
	}
	return nil
}

// addDiffering adds a case with a run that was not identical. --fail-fast does not count a new case if
// new cases are allowed. Whether the case will get another allowed verdict is not known yet.
func (c *collector) addDiffering(u undecidedCase, at int64, runs int) {
	c.addUndecided(u, at, runs)
	if c.o.Judge.Baseline.Has(u.task.Entry.Name) || !c.o.AllowNew {
		c.differing++
	}
}

// addIdentical adds a case whose first run was identical. The case has its verdict, unless --runs
// asks for more runs.
func (c *collector) addIdentical(t pass.Task, r firstResult, at int64) {
	if r.silent {
		c.o.Ledger.Silent++
	}
	if c.o.Numbers.of(true) > 1 {
		c.addUndecided(undecidedCase{t, r.lane, r.line(t.Entry.Name)}, at, 1)
		return
	}
	c.conclude(t, r.identicalCase())
}

// addUndecided adds a case that has had the given number of runs. at is the offset of its line in the
// journal.
func (c *collector) addUndecided(u undecidedCase, at int64, runs int) {
	if c.undecided == nil {
		c.undecided = slices.Repeat([]undecidedRef{{at: noLine}}, len(c.progress))
	}
	c.undecided[u.task.Index] = undecidedRef{at, int32(u.lane), int32(max(0, c.o.Numbers.of(u.line.Identical)-runs))}
	c.waiting.add(u)
}

// readUndecided reads an undecided case. Several goroutines may call it after the first pass.
func (c *collector) readUndecided(t pass.Task) (undecidedCase, error) {
	ref := &c.undecided[t.Index]
	line, err := c.o.Journal.lines.At(ref.at, t.Entry.Name)
	return undecidedCase{t, int(ref.lane), line}, err
}

// listUndecided lists the cases that have no verdict yet, in corpus order, and counts their further
// runs. It also returns the tasks of all cases whose verdicts are not reported yet.
func (c *collector) listUndecided() (cases, unreported []pass.Task, runs int) {
	n := 0
	for range c.eachUndecided() {
		n++
	}
	cases, unreported = make([]pass.Task, 0, n), make([]pass.Task, 0, n)
	for t, ref := range c.eachUndecided() {
		unreported = append(unreported, t)
		if !c.order.Has(t) {
			cases = append(cases, t)
			runs += int(ref.left)
		}
	}
	return cases, unreported, runs
}

// eachUndecided yields the undecided cases whose verdicts are not reported yet, in corpus order.
func (c *collector) eachUndecided() iter.Seq2[pass.Task, undecidedRef] {
	return func(yield func(pass.Task, undecidedRef) bool) {
		for i, ref := range c.undecided {
			if ref.at != noLine && c.progress[i] != decided && !yield(pass.Task{Index: i, Entry: &c.o.Cases[i]}, ref) {
				return
			}
		}
	}
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
