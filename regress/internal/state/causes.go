package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"muster/regress/internal/fault"
)

// SaveCauses keeps the causes of a run's differences, atomically.
func (r *Run) SaveCauses(encoded []byte) error { return r.replace("causes.json", encoded) }

// Causes returns what SaveCauses kept; nothing for a run that has none.
func (r *Run) Causes() ([]byte, error) {
	text, err := os.ReadFile(r.File("causes.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return text, nil
}

// Decision is what somebody decided on one cause of a run.
type Decision string

// The decisions, a closed set; a cause that is not decided on has none.
const (
	Accepted Decision = "accepted"
	Rejected Decision = "rejected"
)

// SaveDecisions keeps what was decided, by the IDs of the causes, atomically.
func (r *Run) SaveDecisions(by map[string]Decision) error {
	text, err := json.MarshalIndent(by, "", " ")
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return r.replace("decisions.json", text)
}

// Decisions returns what SaveDecisions kept; it is never nil without an error.
func (r *Run) Decisions() (map[string]Decision, error) {
	by := map[string]Decision{}
	text, err := os.ReadFile(r.File("decisions.json"))
	if errors.Is(err, os.ErrNotExist) {
		return by, nil
	}
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	err = json.Unmarshal(text, &by)
	for id, d := range by {
		if d != Accepted && d != Rejected {
			err = fmt.Errorf("%q is no decision on %q", d, id)
		}
	}
	if err != nil {
		return nil, fault.Inputf("%s, what was decided on run %s, is damaged: %w: remove it, then decide again", r.File("decisions.json"), r.ID, err)
	}
	if by == nil { // null
		by = map[string]Decision{}
	}
	return by, nil
}

// replace writes a file of the run beside its place, and renames it.
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
