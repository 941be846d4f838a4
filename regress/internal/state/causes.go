package state

import (
	"encoding/json"
	"errors"
	"os"

	"muster/regress/internal/fault"
)

// SaveCauses writes the causes of a run's differences atomically.
func (r *Run) SaveCauses(encoded []byte) error {
	return replace(r.ID, r.File("causes.json"), encoded, nil)
}

// Causes returns the causes that SaveCauses wrote, or nil if the run has none.
func (r *Run) Causes() ([]byte, error) { return r.kept("causes.json") }

// SaveDecisions writes the decisions on a run atomically.
func (r *Run) SaveDecisions(encoded []byte) error {
	return replace(r.ID, r.File("decisions.json"), encoded, nil)
}

// Decisions returns the decisions that SaveDecisions wrote, or nil if there are none.
func (r *Run) Decisions() ([]byte, error) { return r.kept("decisions.json") }

const (
	familiesFile = "../../families.json" // in the state folder itself, two levels above the run
	familiesMax  = 10_000                // causes that were joined or split; nobody does more by hand
)

// SaveFamilies writes the families that people put causes into, by signature, atomically. They hold for
// all runs.
func SaveFamilies(r *Run, families map[string]string) error {
	if len(families) > familiesMax {
		return fault.Inputf("%d causes were joined or split by hand, and at most %d are kept: remove %s, then join again", len(families), familiesMax, r.File(familiesFile))
	}
	encoded, err := json.MarshalIndent(families, "", " ")
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return replace(r.ID, r.File(familiesFile), encoded, (*os.File).Sync) // no later check makes the list again
}

// Families returns what SaveFamilies wrote, or nil.
func Families(r *Run) (families map[string]string, err error) {
	encoded, err := r.kept(familiesFile)
	if err != nil || encoded == nil {
		return nil, err
	}
	if json.Unmarshal(encoded, &families) != nil {
		return nil, fault.Inputf("%s, the causes that were joined and split by hand, is damaged: remove it, then join them again", r.File(familiesFile))
	}
	return families, nil
}

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
