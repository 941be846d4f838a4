package state

import (
	"errors"
	"os"

	"muster/regress/internal/fault"
)

// SaveCauses writes the causes of a run's differences atomically.
func (r *Run) SaveCauses(encoded []byte) error {
	return replace(r.ID, r.File("causes.json"), encoded)
}

// Causes returns the causes that SaveCauses wrote, or the zero T if the run has none.
func Causes[T any](r *Run, decode func([]byte) (T, error)) (T, error) {
	return kept(r, "causes.json", decode, "the causes of run "+r.ID, "run muster "+r.Command+" again")
}

// SaveDecisions writes the decisions on a run atomically.
func (r *Run) SaveDecisions(encoded []byte) error {
	return replace(r.ID, r.File("decisions.json"), encoded)
}

// Decisions returns the decisions that SaveDecisions wrote, or the zero T if there are none.
func Decisions[T any](r *Run, decode func([]byte) (T, error)) (T, error) {
	return kept(r, "decisions.json", decode, "the decisions on run "+r.ID, "remove it, then decide again")
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
