package pastrun

import (
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// Causes returns the causes that the run kept. The run must have finished.
func (r *Run) Causes() (*cause.Found, error) {
	if err := r.RequireFinished(false); err != nil {
		return nil, err
	}
	found, err := r.CausesIfAny()
	if err == nil && found == nil {
		err = fault.Inputf("run %s has no causes, it is of an earlier muster: run muster %s again", r.ID, r.Command)
	}
	return found, err
}

// CausesIfAny returns nil for a run of an earlier muster.
func (r *Run) CausesIfAny() (*cause.Found, error) {
	encoded, err := r.State.Causes()
	if err != nil || encoded == nil {
		return nil, err
	}
	found, err := cause.Decode(encoded)
	if err != nil {
		return nil, fault.Inputf("%s, the causes of run %s, is damaged: %w: run muster %s again", r.State.File("causes.json"), r.ID, err, r.Command)
	}
	return analyse.MakePrintable(found), nil
}

// Decisions returns the decisions on the run, by ID.
func (r *Run) Decisions() (map[string]review.State, error) {
	encoded, err := r.State.Decisions()
	if err != nil {
		return nil, err
	}
	decisions, err := review.DecodeDecisions(encoded)
	if err != nil {
		return nil, fault.Inputf("%s, what was decided on run %s, is damaged: %w: remove it, then decide again", r.State.File("decisions.json"), r.ID, err)
	}
	return decisions, nil
}

// SaveDecisions replaces the decisions on the run. The state folder must be locked.
func (r *Run) SaveDecisions(decisions map[string]review.State) error {
	encoded, err := review.EncodeDecisions(decisions)
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return r.State.SaveDecisions(encoded)
}
