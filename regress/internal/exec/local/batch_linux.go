package local

import (
	"context"
	"errors"
	"fmt"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// deathsMax is how often one case may lose its helper before the machine counts as broken.
const deathsMax = 3

// RunAll runs the first of a batch's cases, at least one, and returns their number. It does
// not run the cases after a slow one, because other lanes may be idle. It reports each case
// with the result that Run would return.
func (c *Crew) RunAll(ctx context.Context, b exec.Batch) (ran int) {
	w, err := c.acquire(ctx, b.Jobs[0].Avoid)
	if err != nil {
		b.Ended(0, nil, err)
		return 1
	}
	defer c.release(w)
	var refused []int
	before := c.refusals.Snapshot()
	ran = w.runWithHelpers(ctx, exec.Batch{Jobs: b.Jobs, Started: b.Started, Ended: func(i int, r *exec.Result, err error) {
		if err == nil && c.refusals.ChangedSince(before) {
			r.Release()
			refused = append(refused, i)
			return
		}
		b.Ended(i, r, err)
	}})
	for _, i := range refused {
		c.runRefused(ctx, w, b, i, len(refused) == 1)
	}
	return ran
}

// runRefused reports that a process was refused while a case ran. If it was one of several
// cases, it runs again alone first: another case may have caused the refusal.
func (c *Crew) runRefused(ctx context.Context, w *worker, b exec.Batch, i int, alone bool) {
	if !alone {
		before := c.refusals.Snapshot()
		w.runWithHelpers(ctx, exec.Batch{Jobs: b.Jobs[i : i+1], Started: func(int) {}, Ended: func(_ int, r *exec.Result, err error) {
			if alone = err == nil && c.refusals.ChangedSince(before); alone {
				r.Release()
				return
			}
			b.Ended(i, r, err)
		}})
	}
	if alone {
		b.Ended(i, nil, fault.Environmentf("while the case ran a process was refused by the limit of the control group (pids.max): raise it, or use fewer --jobs"))
	}
}

// runWithHelpers is RunAll on this lane, with as many helpers as necessary.
func (w *worker) runWithHelpers(ctx context.Context, b exec.Batch) (ran int) {
	for deaths := 0; ran == 0; {
		var err error
		if w.helper == nil {
			if err = w.start(ctx, w.crew.mode); err != nil {
				err = fmt.Errorf("lane %d cannot be started again: %w", w.number, withProcessesMend(err))
			}
		}
		if err == nil {
			ran, err = w.run(ctx, b)
		}
		switch {
		case err == nil:
			return ran
		case ctx.Err() != nil:
			w.endOrWarn()
			err = ctx.Err()
		case errors.Is(err, errStopped) && len(b.Jobs) == 1:
			w.endOrWarn()
			err = fault.Environmentf("%s: lane %d was stopped %d times while the case ran (SIGSTOP): leave the case out, or allow user namespaces, in which no case reaches its lane",
				name.Print(b.Jobs[0].Source.Name), w.number, wakesMax+1)
		case errors.Is(err, errLaneDied):
			err = w.handleDeath(b.Jobs[ran].Source.Name, &deaths)
		}
		if err != nil {
			b.Ended(ran, nil, err)
			return ran + 1
		}
		b.Jobs = b.Jobs[:ran+1] // the case runs alone, because any of several may have caused it
	}
	return ran
}

// handleDeath cleans up after a helper that died during a case. It returns an error if the
// case must not get another helper.
func (w *worker) handleDeath(source string, deaths *int) error {
	why, left := w.end()
	if left != nil {
		return fmt.Errorf("%s: %w", name.Print(source), left)
	}
	if *deaths++; *deaths == deathsMax {
		return fault.Environmentf("%s: %w %d times: %s", name.Print(source), errLaneDied, *deaths, why)
	}
	return nil
}
