// Package decide accepts the differences of a past check into its golden: Accept at once, Review one
// by one, on a terminal or in a browser.
//
// Data flows one way: a selection of causes and cases, the effect of accepting it, one transaction
// on the golden. Output: the changed golden, and a text on the standard output of the host. Error texts
// say what to do; regress.ClassOf returns the class of an error. While one command writes to a golden
// or a state folder, a second one fails with an error of class Input.
//
// The package must not run cases or compare outcomes.
package decide

import (
	"context"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// Accept promotes differences of a past check into the golden, all or nothing. It returns how many
// cases that were.
func Accept(ctx context.Context, o regress.Options, h host.Host, a AcceptOptions) (count int, err error) {
	if err := a.complete(); err != nil {
		return 0, err
	}
	unlock, err := state.Open(o.Store.State).Lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	p, err := openChecked(&o, h, &a)
	if err != nil {
		return 0, err
	}
	at, err := place.Find(ctx, p.Options.Store.Golden, place.NewOptions(p.Options.Store.State, p.Host.Files))
	if err != nil {
		return 0, err
	}
	defer at.Close()
	if p, err = recallMarks(ctx, p, at); err != nil {
		return 0, err
	}
	s, e, err := planAccept(ctx, p.Run, &a)
	if err != nil {
		return 0, err
	}
	t := transaction{past: p, effect: &e, at: at, reason: a.Reason, keepCommand: a.KeepCommand}
	write := t.writeAll
	if a.DryRun {
		write = t.preview
	}
	w, err := write(ctx)
	if err != nil {
		return 0, err
	}
	warnAccepted(&o, h, p, &a, &w)
	return len(w.promoted), printAccepted(h.Stdout, &o.Report, &a, &s, &e, &w)
}

// openChecked opens the check to accept. It refuses a compare, and a check that did not finish.
func openChecked(o *regress.Options, h host.Host, a *AcceptOptions) (*pastrun.Past, error) {
	p, err := pastrun.OpenFor(o, h, a.Run, a.Golden)
	if err != nil {
		return nil, err
	}
	if p.Run.Command != regress.CheckCommand {
		return nil, fault.Inputf("run %s was a compare: it has no golden to accept into: run muster check, or name a check with --run", p.Run.ID)
	}
	return p, p.Run.RequireFinished(true)
}

// planAccept selects the causes and cases to accept, and works out the effect. It writes nothing.
func planAccept(ctx context.Context, run *pastrun.Run, a *AcceptOptions) (s selection, e effect, err error) {
	found, err := run.CausesIfAny()
	if err != nil {
		return s, e, err
	}
	if s, err = selectCases(ctx, run, a); err != nil {
		return s, e, err
	}
	decisions, err := run.Decisions()
	if err != nil {
		return s, e, err
	}
	return s, acceptSelection(run, found, decisions, &s), nil
}
