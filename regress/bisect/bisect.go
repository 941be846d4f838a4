// Package bisect finds the version of a command that introduced each cause of a past check, and the one
// that removed it.
//
// Input: a list of versions, in order. It runs every version on the smallest case of each cause, and
// compares the outcome with that of the golden. Output: a text or JSON on the standard output of the
// host. The package must not write to a golden or a state folder.
package bisect

import (
	"context"
	"errors"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/job"
	"muster/regress/internal/pastrun"
)

// Run runs each version on the smallest source of each cause, once, and prints which
// of them brought the cause, and which took it away and brought it again. When ctx ends it
// prints what is known by then, and returns an error of class Interrupted.
func Run(ctx context.Context, o regress.Options, h host.Host, b Options) (err error) {
	if b.Status == nil {
		b.Status = func(string) {}
	}
	p, err := pastrun.OpenLast(&o, h, b.Run)
	if err != nil {
		return err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return err
	}
	goals, err := findGoals(ctx, p, found, b.Target)
	if err != nil {
		return err
	}
	names := make([]string, len(goals))
	for i, a := range goals {
		names[i] = a.Name
	}
	s, err := goal.OpenAgain(ctx, p, &o, h, job.BisectCommand, names)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := goal.WarnIfCorpusChanged(ctx, p, s); err != nil {
		return err
	}
	d := &search{run: s, past: p, found: found, index: cause.NewIndex(found.Causes), how: b, began: time.Now()}
	if d.base, err = p.Run.OpenBase(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.base.Close()) }()
	if err := d.prepare(ctx, goals); err != nil {
		return err
	}
	return conclude(ctx, d, d.runAll(ctx))
}

// findGoals returns the goal that a word names, or one for each case that is the smallest of a cause.
func findGoals(ctx context.Context, p *pastrun.Past, found *cause.Found, word string) (list []goal.Goal, err error) {
	if word != "" {
		a, err := goal.Find(ctx, p, found, word)
		return []goal.Goal{a}, err
	}
	for i, c := range found.Causes {
		at := slices.IndexFunc(list, func(a goal.Goal) bool { return a.Name == c.Smallest })
		if at < 0 {
			at, list = len(list), append(list, goal.Goal{Name: c.Smallest})
		}
		list[at].Causes = append(list[at].Causes, i)
	}
	if len(list) == 0 {
		return nil, fault.Emptyf("run %s has no causes: nothing differed", p.Run.ID)
	}
	return list, nil
}
