package run

import (
	"context"
	"maps"
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

// Renew takes the tool as it is after a change, once nothing writes to it. No case may run. err is the error of the
// run if it has ended for another reason. Renew returns why the run ends, or nil.
func (r *Run) Renew(ctx context.Context, change *closure.Change, err error) error {
	t := r.Tool
	r.changes++
	switch {
	case err != nil:
	case t.remote: // the engine has what was sent
		err = change
	case r.changes > changesMax:
		err = fault.Environmentf("%s, and the tool changed %s before: stop what writes to the file, then repeat with --resume; or leave the file out with --no-tool-file", change.What(), readable.Count(changesMax, "time"))
	case r.Host.Executor == nil: // else a test runs no command
		settle(ctx, t.closure)
		lacks := t.closure.Lacks(t.closure.Snapshot().Look(), closure.IsCode)
		switch err = ctx.Err(); {
		case err != nil || lacks == "":
		case lacks == change.Path:
			err = change
		default:
			err = &closure.Change{Path: lacks, How: "the file is gone"}
		}
	}
	t.closure = t.closure.Renew(t.options.Digests)
	return err
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

// Restart forgets all verdicts after a change of the tool. ran is the number of cases that ran. ends says why the run
// ends, or is nil: then emit report.Started next. A resumed run accepts any tool, because it finds no result.
func (r *Run) Restart(change *closure.Change, ends error, ran int) error {
	next := " that ran before will run again"
	if ends != nil {
		next = " that ran before will count as not run"
	}
	r.Events.Warn(change.What() + ": " + readable.Cases(ran) + next)
	was := *r.Ledger
	*r.Ledger = Ledger{Summary: was.begun, begun: was.begun, events: was.events, unused: was.unused}
	r.Ledger.Summary.CPU = was.Summary.CPU
	r.Differences = r.Differences.Renew()
	id := r.Folder.Identity
	maps.DeleteFunc(id, func(key, _ string) bool { return isOfTool(key) })
	if ends == nil {
		r.Tool.Identify(id)
	}
	return r.Folder.Save()
}
