// Package goal finds the case of a past run that reduce and bisect work on, with the causes to look
// for, and opens the corpus again.
//
// It must not run a case.
package goal

import (
	"context"
	"fmt"
	"slices"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/run"
)

// Goal is a case of a past run, and its causes to look for.
type Goal struct {
	Name   string // raw
	Causes []int  // indexes in found, ascending
}

// Find finds the goal that a word names: a cause with its smallest case, or a case with all its
// causes.
func Find(ctx context.Context, p *pastrun.Past, found *cause.Found, word string) (a Goal, err error) {
	n, err := p.Run.FindTarget(ctx, word)
	if err != nil {
		return a, err
	}
	if n.Cause != nil {
		at := slices.IndexFunc(found.Causes, func(c cause.Cause) bool { return c.ID == n.Cause.ID })
		return Goal{n.Cause.Smallest, []int{at}}, nil
	}
	raw := string(n.Result.Name)
	m, known := found.Member(raw)
	if !known {
		return a, fault.Inputf("%s has no cause in run %s: it was %s", name.Print(raw), p.Run.ID, n.Result.Verdict)
	}
	return Goal{raw, m.Causes}, nil
}

// OpenAgain opens the corpus of the run for some of its cases, with the options of the run. The number
// of lanes is that of o.
func OpenAgain(ctx context.Context, p *pastrun.Past, o *regress.Options, h host.Host, command string, only []string) (*run.Run, error) {
	again := p.Options
	again.Limits.Jobs, again.Select = o.Limits.Jobs, regress.Selection{Only: only}
	j, err := job.Resolve(again, nil, command)
	if err != nil {
		return nil, err
	}
	s, err := run.Open(ctx, j, h, nil)
	if regress.ClassOf(err) == regress.Empty {
		return nil, fault.Inputf("%s has none of the cases any more that run %s had: run muster %s again", again.Corpus.Path, p.Run.ID, p.Run.Command)
	}
	return s, err
}

// WarnIfCorpusChanged warns if the corpus has changed since the run. It compares the whole corpus,
// because the few sources that are used may include others.
func WarnIfCorpusChanged(ctx context.Context, p *pastrun.Past, s *run.Run) error {
	was := run.CorpusIn(p.Run.State.Identity)
	if was == "" {
		return nil
	}
	err := s.Inputs.ReadDigests(ctx)
	if err == nil && s.Inputs.Digests.Whole.String() != was {
		s.Events.Warn(fmt.Sprintf("%s is not what it was in run %s: what differs may come of that, and a cause be missed", p.Options.Corpus.Path, p.Run.ID))
	}
	return err
}
