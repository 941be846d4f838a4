package verdict

import (
	"muster/regress/internal/exec"
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
// stored, the first run differed, or with --runs a later one. takeLine asks the store even if
// the first run was identical, because the interrupted run may have had another --runs.
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
