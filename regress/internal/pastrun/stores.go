package pastrun

import (
	"context"
	"errors"
	"os"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
)

// OpenOutcomes opens the outcomes that the run kept of cases that were not identical.
func (r *Run) OpenOutcomes() (*golden.Store, error) { return openKept(r, r.State.Outcomes()) }

// OpenOutcomesIfAny is like OpenOutcomes, but returns nil if the run kept none. A merged run
// keeps none if only missing cases differ.
func (r *Run) OpenOutcomesIfAny() (*golden.Store, error) {
	if _, err := os.Stat(r.State.Outcomes()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return r.OpenOutcomes()
}

func openKept(r *Run, path string) (*golden.Store, error) {
	found, err := golden.Open(path)
	if regress.ClassOf(err) == regress.Input { // golden's own advice is for goldens
		return nil, fault.Inputf("%s, what run %s kept, is damaged or gone: run muster %s again", path, r.ID, r.Command)
	}
	return found, err
}

// OpenBase opens the outcomes that the run compared with.
func (r *Run) OpenBase(ctx context.Context) (*place.Golden, error) {
	if r.Command == regress.CompareCommand {
		base, err := openKept(r, r.State.References())
		return place.NewGolden(base), err
	}
	base, err := place.Open(ctx, r.options.Golden, r.options.Places)
	if err != nil {
		return nil, place.ExplainMissing(r.options.Golden, err)
	}
	return base, nil
}

// CheckGolden refuses a golden, by its name, digest and meta, that is not the one that the run
// compared with. It allows a golden that only accepts of this run have changed.
func (r *Run) CheckGolden(name string, digest outcome.Digest, m golden.Meta) error {
	if digest.String() == r.State.Golden || m.AcceptedRun == r.ID && m.AcceptBase.String() == r.State.Golden {
		return nil
	}
	return fault.Inputf("the golden %s is not the one that run %s compared with: run muster check again, then accept", name, r.ID)
}
