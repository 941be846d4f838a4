package regress

import (
	"context"
	"fmt"
	"slices"

	"muster/regress/host"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/opt"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/run"
)

// goal is a case of a past run, and its causes to look for.
type goal struct {
	name   string // raw
	causes []int  // indexes in found, ascending
}

// findGoal finds the goal that a word names: a cause with its smallest case, or a case with all its
// causes.
func findGoal(ctx context.Context, p *pastrun.Past, found *cause.Found, word string) (a goal, err error) {
	n, err := p.Run.FindTarget(ctx, word)
	if err != nil {
		return a, err
	}
	if n.Cause != nil {
		at := slices.IndexFunc(found.Causes, func(c cause.Cause) bool { return c.ID == n.Cause.ID })
		return goal{n.Cause.Smallest, []int{at}}, nil
	}
	raw := string(n.Result.Name)
	m, known := found.Member(raw)
	if !known {
		return a, fault.Inputf("%s has no cause in run %s: it was %s", name.Print(raw), p.Run.ID, n.Result.Verdict)
	}
	return goal{raw, m.Causes}, nil
}

// openAgain opens the corpus of the run for some of its cases, with the options of the run. The number
// of lanes is that of o.
func openAgain(ctx context.Context, p *pastrun.Past, o *opt.Options, h host.Host, command string, only []string) (*run.Run, error) {
	again := p.Options
	again.Limits.Jobs, again.Select = o.Limits.Jobs, opt.Selection{Only: only}
	j, err := job.Resolve(again, nil, command)
	if err != nil {
		return nil, err
	}
	s, err := run.Open(ctx, j, h, nil)
	if fault.ClassOf(err) == fault.Empty {
		return nil, fault.Inputf("%s has none of the cases any more that run %s had: run muster %s again", again.Corpus.Path, p.Run.ID, p.Run.Command)
	}
	return s, err
}

// warnIfCorpusChanged warns if the corpus has changed since the run. It compares the whole corpus,
// because the few sources that are used may include others.
func warnIfCorpusChanged(ctx context.Context, p *pastrun.Past, s *run.Run) error {
	was, stamp := run.CorpusIn(p.Run.State.Identity)
	if was == "" || stamp == s.Inputs.Corpus.Stamp() {
		return nil
	}
	err := s.Inputs.ReadDigests(ctx)
	if err == nil && s.Inputs.Digests.Whole.String() != was {
		s.Events.Warn(fmt.Sprintf("%s is not what it was in run %s: what differs may come of that, and a cause be missed", p.Options.Corpus.Path, p.Run.ID))
	}
	return err
}
