package past

import (
	"maps"
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/state"
)

// RerunOptions returns the last run's command, such as "check", and its options: for all cases, or only for
// those that were not identical. It takes from o the state folder, and the options that are not kept
// with a run.
func RerunOptions(o regress.Options, failed bool) (again regress.Options, command string, err error) {
	last, err := state.Open(o.Store.State).Last(func(*state.Run) bool { return true }, "run to do again yet: muster record makes the first one, and muster check the next")
	if err != nil {
		return again, "", err
	}
	again, err = job.Decode(last)
	if err != nil {
		return again, "", err
	}
	job.OverrideKept(&again, &o)
	again.Select.Only = nil // it belongs to the last run, not to its options
	if failed {
		if err := selectFailed(&again, last); err != nil {
			return again, "", err
		}
	}
	return again, last.Command, nil
}

// selectFailed restricts the options to the cases that were not identical in a run.
func selectFailed(o *regress.Options, r *state.Run) (err error) {
	if !state.IsCheck(r) {
		return fault.Inputf("the last run, %s, was a %s: --failed needs a check", r.ID, r.Command)
	}
	if !r.Finished {
		return fault.Inputf("the last run, %s, did not finish: go on with the same %s and --resume first, or leave out --failed", r.ID, r.Command)
	}
	names, err := state.NotIdentical(r)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fault.Emptyf("run %s had nothing that was not identical", r.ID)
	}
	o.Select.Only = slices.Sorted(maps.Keys(names))
	return nil
}
