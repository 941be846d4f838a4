package regress

import (
	"context"
	"io"

	"muster/regress/internal/content"
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
	// keeps reports whether what a case was compared with is there after an
	// interruption.
	keeps(name string) (bool, error)
	// took returns how long each selected case took before, nil when that is not known.
	took(s *session) pass.Durations

	// first runs the cases and compares, and tells c what came of each.
	first(ctx context.Context, c *checking, tasks []pass.Task) error
	// beside is the command that runs once more with each further run of the
	// candidate, and where that is kept; nil for none.
	beside() (*exec.Command, *keep.Store)
	// rival is what the candidate's cost is compared with.
	rival(candidate *command) rival
	// compare compares one run of the candidate, and names the parts that it left out.
	compare(c *checking, name string, r *exec.Result) (keep.Likeness, content.Uncompared, error)
	// masked names the parts that the baseline masks in a case that ended so and is identical.
	masked(name string, ended outcome.Ending) ([]string, error)
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

func (b recordedBase) took(s *session) pass.Durations { return s.wallsIn(b.Store) }

func (b recordedBase) keeps(string) (bool, error) { return true, nil }

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
	l, left, err := b.compare(c, t.Entry.Name, r)
	got.identical, got.left, got.err = l == keep.Alike, left, err
	if err == nil && l != keep.Alike {
		got.err = c.found.Put(ctx, t.Entry.Name, r, l)
	}
	return got
}

func (b recordedBase) compare(c *checking, name string, r *exec.Result) (l keep.Likeness, left content.Uncompared, err error) {
	digest, known := b.OutcomeDigest(name)
	if !known {
		return keep.Unmatched, left, nil
	}
	if digest == r.Outcome.Digest() && !r.Outcome.Ending.Partial() {
		return keep.Alike, left.With(&r.Outcome), nil
	}
	old, _, err := b.Get(name)
	if err != nil {
		return keep.Unlike, left, err
	}
	r.Outcome.IgnoreOf(&old.Outcome, c.ignored.Match)
	l, err = keep.Compare(&old.Outcome, &r.Outcome, c.comparer.Same(b.Content, r.Open))
	return l, content.UncomparedIn(&old.Outcome).With(&r.Outcome), err
}

func (b recordedBase) masked(name string, ended outcome.Ending) ([]string, error) {
	if !b.Flaky(name) && !ended.Partial() {
		return nil, nil
	}
	old, _, err := b.Get(name)
	return content.MaskedParts(&old.Outcome), err
}

func (b recordedBase) beside() (*exec.Command, *keep.Store) { return nil, nil }

func (b recordedBase) rival(candidate *command) rival { return costRival(b.Meta(), candidate) }

func (b recordedBase) get(name string) (golden.Record, bool, error) { return b.Get(name) }

func (b recordedBase) content(p outcome.Part) (io.ReadCloser, error) { return b.Content(p) }

func (b recordedBase) end(error) error { return nil }
