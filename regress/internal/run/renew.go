package run

import (
	"context"
	"maps"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress/internal/closure"
	"muster/regress/internal/fault"
)

// changesMax is the number of changes of the tool after which a run goes on.
const changesMax = 3

// Times for Settle when a file of the tool changed. A package manager replaces many files, one after another.
const (
	quietFor   = 500 * time.Millisecond // without a change
	settleMax  = 5 * time.Second
	settlePoll = 50 * time.Millisecond
)

// A Renewal is what follows from a change of the tool while cases ran.
type Renewal struct {
	Err    error // why the run ends, or nil: it goes on
	change *closure.Change
	sure   map[string]bool // cases that ran, and used nothing that changed
	paths  []string        // that changed
}

// InDoubt reports whether a case may have used a file of the tool that is another one now. It then runs
// again, if it ran.
func (n *Renewal) InDoubt(caseName string) bool { return !n.sure[caseName] }

// Renew takes the tool as it is after a change, once nothing writes to it. No case may run. err is the error of the
// run if it has ended for another reason.
func (r *Run) Renew(ctx context.Context, change *closure.Change, err error) *Renewal {
	t := r.Tool
	n := &Renewal{Err: err, change: change}
	r.changes++
	switch {
	case err != nil:
	case t.remote: // the engine has what was sent
		n.Err = change
	case r.changes > changesMax:
		n.Err = fault.Environmentf("%s, and the tool changed %s before: stop what writes to the file, then repeat with --resume; or leave the file out with --no-tool-file", change.What(), readable.Count(changesMax, "time"))
	case r.Host.Executor == nil: // else a test runs no command
		settle(ctx, t.closure)
		lacks := t.closure.Lacks(t.closure.Snapshot().Look(), closure.IsCode)
		switch n.Err = ctx.Err(); {
		case n.Err != nil || lacks == "":
		case lacks == change.Path:
			n.Err = change
		default:
			n.Err = &closure.Change{Path: lacks, How: "the file is gone"}
		}
	}
	was := t.closure
	t.closure, n.paths = was.Renew(t.options.Digests)
	if !slices.Contains(n.paths, change.Path) {
		n.paths = append(n.paths, change.Path) // it is back, and cases may have seen it
	}
	if was.AreSeen(n.paths) {
		n.sure = t.observer.Sure(n.paths)
	}
	return n
}

// settle waits until nothing writes to the tool, but not for ever.
func settle(ctx context.Context, c *closure.Closure) {
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	_, _ = c.Snapshot().Settle(ctx, c, closure.IsCode, quietFor, func(ctx context.Context, _ time.Duration) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settlePoll):
			return nil
		}
	})
}

// Restart forgets all verdicts, and reports how many cases with runs are in doubt. Emit report.Started next.
func (r *Run) Restart(n *Renewal, inDoubt int) error {
	next := " that ran before will run again"
	if n.Err != nil {
		next = " that ran before will count as not run"
	}
	r.Events.Warn(n.change.What() + ": " + readable.Cases(inDoubt) + next)
	was := *r.Ledger
	*r.Ledger = Ledger{Summary: was.begun, begun: was.begun, events: was.events, unused: was.unused}
	r.Ledger.Summary.CPU = was.Summary.CPU
	r.Differences = r.Differences.Renew()
	id := r.Folder.Identity
	maps.DeleteFunc(id, func(key, _ string) bool { return isOfTool(key) })
	r.Tool.Identify(id)
	if n.Err != nil && len(n.sure) == 0 {
		release(id, nil)
	} else if n.Err != nil {
		release(id, n.paths)
	}
	return r.Folder.Save()
}
