package check

import (
	"context"
	"maps"
	"sync"
	"time"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/run"
)

// Polling of file states needs no resource of the kernel, works on every file system, and sees
// files that are replaced or not there yet.
const (
	pollEvery = 200 * time.Millisecond
	quietFor  = 500 * time.Millisecond // longer than linkers and copies pause between two writes
	pollShare = 20                     // polls may take 1/20 of the time, so a slow file system is polled less often
)

// A watcher makes one check after another. A nil watcher watches nothing.
type watcher struct {
	pollEvery, quietFor time.Duration

	tool       *closure.Closure // of the last check that knew its tool
	state      closure.Snapshot // of the tool in the last check
	isObsolete bool             // the tool changed during the last check, which then has no result
	output     error            // of the standard output
}

// adopt takes the tool of a check that ended with err. If the check is obsolete, adopt removes its run,
// because an unfinished check would spoil --failed-first.
func (w *watcher) adopt(r *run.Run, err error) error {
	if w == nil {
		return nil
	}
	w.tool = r.Tool.Closure()
	known := w.tool.Snapshot()
	if err != nil || r.Ledger.Summary.Verdicts[regress.EnvironmentFailed] > 0 {
		// A tool that cannot start shows few of its files. The others may be the ones to mend.
		earlier := closure.Snapshot{}
		maps.Copy(earlier, w.state)
		maps.Copy(earlier, known)
		known = earlier
	}
	w.state = known
	if w.isObsolete = err != nil && w.state.Differs(w.state.Look()) != ""; w.isObsolete {
		return r.Drop()
	}
	return nil
}

// lookEvery is the time between two looks at the tool while cases run.
func (w *watcher) lookEvery() time.Duration {
	if w == nil {
		return run.WatchEvery
	}
	return w.pollEvery
}

// guard returns a context that ends when what is known of the tool changes, for the time before
// cases run. Call end after that time.
func (w *watcher) guard(ctx context.Context, t *run.Tool) (guarded context.Context, end func()) {
	if w == nil {
		return ctx, func() {}
	}
	guarded, cancel := context.WithCancel(ctx)
	var polling sync.WaitGroup
	polling.Go(func() {
		was := t.Closure().Snapshot()
		for w.pause(guarded, 0) == nil {
			if was.Differs(was.Look()) != "" {
				cancel()
			}
		}
	})
	return guarded, func() {
		cancel()
		polling.Wait()
	}
}

// next waits until the tool differs from that of the last check and nothing changes it any more. It
// returns a path that changed. It calls idle if there is no change yet.
func (w *watcher) next(ctx context.Context, idle func()) (changed string, err error) {
	for isFirst := true; ; isFirst = false {
		began := time.Now()
		now := w.state.Look()
		if changed = w.state.Differs(now); changed != "" {
			w.state, err = now.Settle(ctx, w.tool, w.quietFor, w.pause)
			return changed, err
		}
		if isFirst {
			idle()
		}
		if err := w.pause(ctx, time.Since(began)); err != nil {
			return "", err
		}
	}
}

// pause waits between two polls. took is the duration of the last one.
func (w *watcher) pause(ctx context.Context, took time.Duration) error {
	timer := time.NewTimer(max(w.pollEvery, pollShare*took))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
