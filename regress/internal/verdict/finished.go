package verdict

import (
	"time"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/state"
)

// TakeFinished takes over the cases that an interrupted run finished. It returns the tasks that
// are left, in their order and in the same slice.
func (l *Loop) TakeFinished(tasks []pass.Task, done *Finished) (pending []pass.Task, err error) {
	pending = tasks[:0]
	for _, t := range tasks {
		if !done.Has(t.Index) {
			pending = append(pending, t)
			continue
		}
		line, err := done.line(t.Index)
		if err != nil {
			return nil, err
		}
		taken, err := takeLine(&l.collector, t, line, done.at[t.Index])
		if err != nil {
			return nil, err
		}
		if !taken {
			pending = append(pending, t)
		}
	}
	return pending, nil
}

// takeLine takes over a case by its line in the journal, unless its outcome is lost. If an outcome is
// stored, its first run differed, or by --runs a later one. takeLine asks the store in either case,
// as --runs may have another value now.
func takeLine(c *collector, t pass.Task, l state.Line, at int64) (taken bool, err error) {
	rec, stored, err := c.o.Judge.Stored(t.Entry.Name)
	switch {
	case err != nil:
		return false, err
	case stored:
		c.addDiffering(undecidedCase{t, exec.NoLane, l}, at, rec.Runs)
	case l.Identical:
		r, err := c.o.Judge.identicalResult(t.Entry.Name, l)
		if err != nil {
			return false, err
		}
		c.addIdentical(t, r, at)
	}
	return stored || l.Identical, nil
}

// identicalResult returns the result of a first run that was identical, from its line in the journal.
func (j *Judge) identicalResult(caseName string, l state.Line) (r firstResult, err error) {
	r = firstResult{
		identical: true, ending: regress.Ending{Kind: l.Kind, Code: l.Code},
		cost:     outcome.Cost{CPU: time.Duration(l.CPU), Wall: time.Duration(l.Wall), PeakRSS: l.Peak},
		onEngine: l.Engine, reused: l.Reused, forked: l.Forked, lane: exec.NoLane,
	}
	if r.left, err = j.masked(caseName, r.ending); err == nil {
		r.left, err = r.left.PlusPrinted(l.Ignored)
	}
	return r, err
}
