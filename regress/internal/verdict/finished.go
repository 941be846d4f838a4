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
		stored, err := takeStored(&l.collector, t, line)
		switch {
		case err != nil:
			return nil, err
		case stored:
		case line.Identical:
			err = takeIdentical(&l.collector, t, line)
		default:
			pending = append(pending, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return pending, nil
}

// takeStored takes over a case if an outcome of it is stored: its first run differed, or by
// --runs a later one. It asks the store in either case, as --runs may have another value now.
func takeStored(c *collector, t pass.Task, l state.Line) (stored bool, err error) {
	rec, stored, err := c.o.Judge.Stored(t.Entry.Name)
	if err == nil && stored {
		c.addUndecided(undecidedCase{task: t, lane: exec.NoLane, runs: rec.Runs, onEngine: l.Engine, reused: l.Reused, alike: l.Identical})
	}
	return stored, err
}

// takeIdentical takes over a case whose runs were all identical.
func takeIdentical(c *collector, t pass.Task, l state.Line) (err error) {
	r := firstResult{
		ending:   regress.Ending{Kind: l.Kind, Code: l.Code},
		cost:     outcome.Cost{CPU: time.Duration(l.CPU), Wall: time.Duration(l.Wall), PeakRSS: l.Peak},
		onEngine: l.Engine, reused: l.Reused, forked: l.Forked, lane: exec.NoLane,
	}
	if r.left, err = c.o.Judge.masked(t.Entry.Name, r.ending); err != nil {
		return err
	}
	if r.left, err = r.left.PlusPrinted(l.Ignored); err == nil {
		c.addIdentical(t, r)
	}
	return err
}
