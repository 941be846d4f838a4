package regress

import (
	"slices"
	"time"

	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/state"
)

// without lists the cases but those that are done.
func (c *checking) without(done map[string]state.Line) []pass.Task {
	return slices.DeleteFunc(c.all(), func(t pass.Task) bool {
		_, known := done[t.Entry.Name]
		return known
	})
}

// resume takes over what an interrupted run had done, and returns the rest in
// the order in which it is to run.
func (c *checking) resume(done map[string]state.Line) ([]pass.Task, error) {
	var pending []pass.Task
	for _, t := range c.ordered(c.recorded.took) {
		l, ok := done[t.Entry.Name]
		if !ok {
			pending = append(pending, t)
			continue
		}
		stored, err := c.resumeStored(t, l)
		switch {
		case err != nil:
			return nil, err
		case stored:
		case l.Identical:
			err = c.resumeIdentical(t, l)
		default:
			pending = append(pending, t)
		}
		if err != nil {
			return nil, err
		}
	}
	return pending, nil
}

// resumeStored takes over a case if something is stored of it: its first run differed, or by
// --runs a later one. It asks the store in either case, as --runs may be another one now.
func (c *checking) resumeStored(t pass.Task, l state.Line) (stored bool, err error) {
	rec, stored, err := c.found.Get(t.Entry.Name)
	if err == nil && stored {
		stored, err = c.keepsReference(t.Entry.Name)
	}
	if err == nil && stored {
		c.differs(firstRun{task: t, lane: exec.NoLane, cost: rec.Cost, runs: rec.Runs, onEngine: l.Engine, alike: l.Identical})
	}
	return stored, err
}

// keepsReference reports whether the run still has the outcome that a case was compared with. A
// golden has its outcomes in any case.
func (c *checking) keepsReference(name string) (stored bool, err error) {
	if c.reference == nil {
		return true, nil
	}
	_, stored, err = c.reference.Get(name)
	return stored, err
}

// resumeIdentical takes over a case whose runs were all identical.
func (c *checking) resumeIdentical(t pass.Task, l state.Line) (err error) {
	r := firstResult{
		ending:   outcome.Ending{Kind: l.Kind, Code: l.Code},
		cost:     outcome.Cost{CPU: time.Duration(l.CPU), Wall: time.Duration(l.Wall), PeakRSS: l.Peak},
		onEngine: l.Engine, lane: exec.NoLane,
	}
	if r.left.Masked, err = c.maskedParts(t.Entry.Name, r.ending); err != nil {
		return err
	}
	if r.left, err = r.left.PlusPrinted(l.Ignored); err == nil {
		c.identical(t, r)
	}
	return err
}
