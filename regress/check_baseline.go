package regress

import (
	"context"
	"io"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/state"
)

// baseline is what the outcomes of a candidate are compared with: those of a
// golden, or those of a reference that runs beside it. All methods but start
// and end may be called from several goroutines.
type baseline interface {
	// identify adds what must be the same to go on with a run, and returns the
	// digest of the golden, zero without one.
	identify(id map[string]string) outcome.Digest
	// start is called once the run is known, before anything runs.
	start(run *state.Run, meta golden.Meta) error
	// has reports whether there is anything to compare a case with.
	has(name string) bool
	// digest returns the digest of a case's outcome, if that is known without reading it.
	digest(name string) (d outcome.Digest, known bool)
	// took returns how long each selected case took before, nil when that is not known.
	took(s *session) pass.Durations

	// first runs the cases and compares, and tells c what came of each.
	first(ctx context.Context, c *checking, tasks []pass.Task) error
	// rival is what the candidate's cost is compared with.
	rival(candidate *command) rival
	// get and content return what first compared with; of a pair, only where
	// that was not identical.
	get(name string) (golden.Record, bool, error)
	content(p outcome.Part) (io.ReadCloser, error)
	// end completes what it keeps, or after an error leaves it.
	end(err error) error
}

// recordedBase is a golden as a baseline. Who opened it closes it.
type recordedBase struct{ *golden.Store }

func (b recordedBase) identify(id map[string]string) outcome.Digest {
	id["the golden"] = b.Digest().String()
	return b.Digest()
}

func (b recordedBase) start(*state.Run, golden.Meta) error { return nil }

func (b recordedBase) has(name string) bool {
	_, known := b.OutcomeDigest(name)
	return known
}

func (b recordedBase) digest(name string) (outcome.Digest, bool) { return b.OutcomeDigest(name) }

func (b recordedBase) took(s *session) pass.Durations { return s.wallsIn(b.Store) }

// first runs the cases and compares with the golden; what differs is stored.
func (b recordedBase) first(ctx context.Context, c *checking, tasks []pass.Task) error {
	chosen, err := c.besides()
	if err != nil {
		return err
	}
	var beside, alone []pass.Task
	for _, t := range tasks {
		if chosen[t.Index] {
			beside = append(beside, t)
		} else {
			alone = append(alone, t)
		}
	}
	both := func(ctx context.Context, t pass.Task) ran { return b.both(ctx, c, t) }
	if err := pass.Run(ctx, c.goroutines(), beside, both, c.takeFirst); err != nil {
		return err
	}
	if c.goroutines() > 1 { // else the further runs would be on the lane of the first
		c.waiting.room = c.jobs()
	}
	return pass.Batched[ran]{
		Goroutines: c.goroutines(), Alone: c.onePerLane(), Due: c.due, RunTasks: runTasks(c.session, 1),
		Avoid: func(pass.Task) int { return exec.NoLane }, Take: c.takeFirst,
		Look: func(ctx context.Context, t pass.Task, r *exec.Result, err error) ran {
			return b.look(ctx, c, t, r, err)
		},
		Between: c.runWaiting,
	}.Run(ctx, alone)
}

// both runs the candidate on a case and its rival beside it.
func (b recordedBase) both(ctx context.Context, c *checking, t pass.Task) (got ran) {
	both := c.inTurn(ctx, t, 1, t.Index%2, func(r *exec.Result, err error) { got = b.look(ctx, c, t, r, err) })
	if got.err == nil {
		got.err = both.errs[1]
	}
	got.beside = &both
	return got
}

func (b recordedBase) look(ctx context.Context, c *checking, t pass.Task, r *exec.Result, err error) ran {
	if err != nil {
		return ran{err: err}
	}
	defer r.Release()
	c.settling.settle(t.Entry.Name, &r.Outcome)
	got := ran{ending: r.Outcome.Ending, cost: r.Cost, lane: r.Lane, onEngine: r.Engine}
	l, left, err := c.compare(t.Entry.Name, r)
	got.identical, got.left, got.err = l == keep.Alike, left, err
	if err == nil && l != keep.Alike {
		got.err = c.found.Put(ctx, t.Entry.Name, r, l)
	}
	return got
}

func (b recordedBase) rival(candidate *command) rival { return costRival(b.Meta(), candidate) }

func (b recordedBase) get(name string) (golden.Record, bool, error) { return b.Get(name) }

func (b recordedBase) content(p outcome.Part) (io.ReadCloser, error) { return b.Content(p) }

func (b recordedBase) end(error) error { return nil }
