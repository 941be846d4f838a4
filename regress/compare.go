package regress

import (
	"context"
	"errors"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// pair is what a compare has instead of a golden.
type pair struct {
	reference  *exec.Command
	references *outcomes // of the cases that differ
}

// Compare runs two commands over the corpus, o.Command.Reference and the
// candidate o.Command.Words, interleaved, and compares what they leave; no
// golden is read or written.
func Compare(ctx context.Context, o Options) (sum Summary, err error) {
	if len(o.Command.Reference) == 0 || len(o.Command.Words) == 0 {
		return sum, fault.Inputf("compare wants two commands: --ref 'COMMAND' --new 'COMMAND'")
	}
	s, err := open(ctx, &o, "compare")
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.resolve(); err != nil {
		return sum, err
	}
	c := newChecking(s)
	c.pair = &pair{}
	if c.pair.reference, err = exec.Resolve(o.Command.Reference, o.Command.Shell, o.Command.Stdin); err != nil {
		return sum, err
	}
	return c.check(ctx, c.comparePair)
}

// comparePair runs both commands on a case, in turns which one goes first, so
// that neither always has the warmer caches.
func (c *checking) comparePair(ctx context.Context, w *worker, t task) ran {
	commands := [2]*exec.Command{c.pair.reference, c.For(t.entry.Name)}
	var results [2]*exec.Result
	avoid := exec.NoLane
	for n := range commands {
		i := (n + t.index) % 2
		r, err := w.once(ctx, t, commands[i], 1, avoid)
		if err != nil {
			return ran{err: err}
		}
		defer r.Release()
		results[i], avoid = r, r.Lane
	}
	ref, now := results[0], results[1]
	got := ran{ending: now.Outcome.Ending, cost: now.Cost, lane: now.Lane}
	cmp, err := outcome.Compare(&ref.Outcome, &now.Outcome, sameUnder(c.rules, ref.Open, now.Open))
	if err != nil {
		return ran{err: err}
	}
	if got.identical = cmp.Identical(); !got.identical {
		got.err = c.pair.references.put(ctx, t.entry.Name, ref)
		if got.err == nil {
			got.err = c.found.put(ctx, t.entry.Name, now)
		}
	}
	return got
}
