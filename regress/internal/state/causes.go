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

// Causes returns the causes that SaveCauses wrote, or the zero T if the run has none.
func Causes[T any](r *Run, decode func([]byte) (T, error)) (T, error) {
	return kept(r, "causes.json", decode, "the causes of run "+r.ID, "run muster "+r.Command+" again")
}

// SaveDecisions writes the decisions on a run atomically.
func (r *Run) SaveDecisions(encoded []byte) error {
	return replace(r.ID, r.File("decisions.json"), encoded, nil)
}

// Decisions returns the decisions that SaveDecisions wrote, or the zero T if there are none.
func Decisions[T any](r *Run, decode func([]byte) (T, error)) (T, error) {
	return kept(r, "decisions.json", decode, "the decisions on run "+r.ID, "remove it, then decide again")
}

const (
	familiesName = "families.json"
	familiesFile = "../../" + familiesName // in the state folder itself, two levels above the run
	familiesMax  = 10_000                  // causes that were joined or split; nobody does more by hand
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
	text, err := os.ReadFile(r.File(familiesFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	content, whole := unseal(labelOf(r.ID, familiesFile), text)
	if !whole {
		content = text // an earlier muster wrote no digest; what is sealed and damaged is no map
	}
	if json.Unmarshal(content, &families) != nil {
		return nil, fault.Inputf("%s, the causes that were joined and split by hand, is damaged: remove it, then join them again", r.File(familiesFile))
	}
	return families, nil
}

// kept reads a file that a run may lack, and decodes its content; without the file it returns the zero T.
// The error of a damaged file has what is in it, and what to do.
func kept[T any](r *Run, name string, decode func([]byte) (T, error), what, mend string) (v T, err error) {
	text, err := os.ReadFile(r.File(name))
	if errors.Is(err, os.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return v, fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	if err := r.checkVersion(); err != nil {
		return v, err
	}
	if content, whole := unseal(labelOf(r.ID, name), text); whole {
		if v, err = decode(content); err == nil {
			return v, nil
		}
	}
	return v, fault.Inputf("%s, %s, is damaged: %s", r.File(name), what, mend)
}

// checkVersion refuses the files of an earlier muster, which have no digests.
func (r *Run) checkVersion() error {
	if r.Version == version {
		return nil
	}
	resume := ""
	if !r.Finished {
		resume = ", without --resume"
	}
	return fault.Inputf("run %s was made by an earlier muster, and its files have no digests, so muster could not detect damage: run muster %s again%s", r.ID, r.Command, resume)
}
