package regress

import (
	"context"
	"errors"
	"io"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Compare runs two commands over the corpus, o.Command.Reference and the
// candidate o.Command.Words, interleaved, and compares what they leave; no
// golden is read or written.
func Compare(ctx context.Context, o Options) (sum Summary, err error) {
	if len(o.Command.Reference) == 0 || len(o.Command.Words) == 0 {
		return sum, fault.Inputf("compare wants two commands: --ref 'COMMAND' --new 'COMMAND'")
	}
	s, err := open(ctx, &o, report.CompareCommand)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.watchIgnored()
	if err := s.connect(ctx); err != nil {
		return sum, err
	}
	if err := s.resolve(); err != nil {
		return sum, err
	}
	command, err := s.executable(o.Command.Reference)
	if err != nil {
		return sum, err
	}
	if err := s.identifyTool(command); err != nil {
		return sum, err
	}
	s.engine.alsoRuns(command)
	if err := s.differences.Leaks.Watch(s.engine != nil); err != nil {
		return sum, err
	}
	beside := &reference{command: command}
	c := newChecking(s, referenceBase{beside})
	c.reference = beside
	if err := c.findRival(); err != nil {
		return sum, err
	}
	return c.check(ctx)
}

// reference is the command that runs beside the candidate in a compare.
type reference struct {
	command *exec.Command
	kept    *keep.Store // outcomes of the cases that differ
}

// referenceBase is a reference as a baseline.
type referenceBase struct{ *reference }

func (b referenceBase) took(*session) pass.Durations { return nil }

func (b referenceBase) identify(id map[string]string) outcome.Digest {
	identify("the reference", b.command, id)
	return outcome.Digest{}
}

func (b referenceBase) start(run *state.Run, meta golden.Meta) (err error) {
	b.kept, err = keep.Resume(run.References(), meta)
	return err
}

func (b referenceBase) has(string) bool { return true }

func (b referenceBase) digest(string) (d outcome.Digest, known bool) { return d, false }

func (b referenceBase) first(ctx context.Context, c *checking, tasks []pass.Task) error {
	both := func(ctx context.Context, t pass.Task) ran { return b.both(ctx, c, t) }
	return pass.Run(ctx, c.goroutines(), tasks, both, c.takeFirst)
}

// both runs both commands on a case, in turns which one goes first, so that
// neither always has the warmer caches.
func (b referenceBase) both(ctx context.Context, c *checking, t pass.Task) ran {
	commands := [2]*exec.Command{b.command, c.command.For(t.Entry.Name)}
	same := commands[0].Same(commands[1])
	var results [2]*exec.Result
	avoid := exec.NoLane
	for n := range commands {
		i := (n + t.Index) % 2
		r, err := c.once(ctx, t, commands[i], 1, avoid, same && n > 0) // else one run would be compared with itself
		if err != nil {
			return ran{err: err}
		}
		defer r.Release()
		results[i], avoid = r, r.Lane
	}
	ref, now := results[0], results[1]
	got := ran{ending: now.Outcome.Ending, cost: now.Cost, lane: now.Lane, onEngine: now.Engine, beside: &turns{}}
	got.beside.ended(0, ref, nil)
	got.beside.ended(1, now, nil)
	l, err := keep.Compare(&ref.Outcome, &now.Outcome, c.comparer.Same(ref.Open, now.Open))
	if err != nil {
		return ran{err: err}
	}
	if got.identical, got.left = l == keep.Alike, content.UncomparedIn(&ref.Outcome).With(&now.Outcome); !got.identical {
		got.err = b.kept.Put(ctx, t.Entry.Name, ref, keep.Unmatched)
		if got.err == nil {
			got.err = c.found.Put(ctx, t.Entry.Name, now, l)
		}
	}
	return got
}

func (b referenceBase) rival(*command) rival { return rival{command: b.command} }

func (b referenceBase) get(name string) (golden.Record, bool, error) { return b.kept.Get(name) }

func (b referenceBase) content(p outcome.Part) (io.ReadCloser, error) { return b.kept.Content(p) }

func (b referenceBase) end(err error) error { return b.kept.End(err) }
