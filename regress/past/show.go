package past

import (
	"context"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// Show prints the whole difference of one case in a past run, and a shell line that reproduces it. For
// a target such as G1 it prints the cause and its cases. For a record it prints the outcome of a
// case. An empty id means the last run.
func Show(ctx context.Context, o regress.Options, h host.Host, target, id string) error {
	if !pastrun.IsCauseID(target) {
		run, err := state.FindRun(state.Open(o.Store.State), id)
		if err != nil {
			return err
		}
		if run.Command == regress.RecordCommand {
			return showRecorded(ctx, &o, h, run, target)
		}
	}
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return err
	}
	if err := p.Run.RequireFinished(false); err != nil {
		return err
	}
	n, err := p.Run.FindTarget(ctx, target)
	if err != nil {
		return err
	}
	if n.Cause != nil {
		return showCause(ctx, p, &o, h, n.Found, n.Cause)
	}
	return showCase(ctx, p, &o, h, n.Result)
}
