package regress

import (
	"context"

	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Show prints the whole difference of one case in a past run, and the one line
// that reproduces it; or, for a target such as G1, a cause and where it shows. Of a
// record it prints the outcome of a case. An empty id means the last run.
func Show(ctx context.Context, o Options, target, id string) error {
	if !isCauseID(target) {
		run, err := state.FindRun(state.Open(o.Store.State), id)
		if err != nil {
			return err
		}
		if run.Command == report.RecordCommand {
			return showRecorded(ctx, &o, run, target)
		}
	}
	p, err := openPast(&o, id)
	if err != nil {
		return err
	}
	if err := p.finished(); err != nil {
		return err
	}
	n, err := p.point(ctx, target)
	if err != nil {
		return err
	}
	if n.cause != nil {
		return showCause(ctx, p, &o, n.found, n.cause)
	}
	return showCase(ctx, p, &o, n.result)
}
