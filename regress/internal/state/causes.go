package state

import (
	"errors"
	"os"

	"muster/regress/internal/fault"
)

// SaveCauses writes the causes of a run's differences atomically.
func (r *Run) SaveCauses(encoded []byte) error { return r.replace("causes.json", encoded) }

// Causes returns the causes that SaveCauses wrote, or nil if the run has none.
func (r *Run) Causes() ([]byte, error) { return r.kept("causes.json") }

// SaveDecisions writes the decisions on a run atomically.
func (r *Run) SaveDecisions(encoded []byte) error { return r.replace("decisions.json", encoded) }

// Decisions returns the decisions that SaveDecisions wrote, or nil if there are none.
func (r *Run) Decisions() ([]byte, error) { return r.kept("decisions.json") }

// kept reads a file that a run may lack.
func (r *Run) kept(name string) ([]byte, error) {
	text, err := os.ReadFile(r.File(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return text, nil
}

// replace writes a file of the run under a temporary name and renames it.
func (r *Run) replace(name string, text []byte) error {
	err := os.WriteFile(r.File(name+".new"), text, 0o644)
	if err == nil {
		err = os.Rename(r.File(name+".new"), r.File(name))
	}
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return nil
}
