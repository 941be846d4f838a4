// Package pastrun reads a past check, compare or record. Input: the run in the state folder and the
// name of its golden. Output: the results, causes and decisions, the stores of outcomes, and what a
// user's word such as G1 or a case name stands for.
//
// A Run does not change. WithMarks returns a copy in which some results are marked as accepted. A Past
// also has the options of the run.
//
// The package decides nothing, and writes nothing.
package pastrun

import (
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// Options say where a run and its golden are.
type Options struct {
	Folder string // of the state, as the user named it
	Golden string // name of the golden that a check compared with, or that a record wrote
	Places place.Options
}

// A Run is a past run as its files have it. Nothing in it may be changed.
type Run struct {
	ID, Command string
	Results     []state.Result // of the cases that were not identical; none for a record
	State       *state.Run     // its files
	options     Options
}

// Open reads the results of a run.
func Open(run *state.Run, o Options) (*Run, error) {
	results, err := run.Results()
	if err != nil {
		return nil, err
	}
	return &Run{run.ID, run.Command, results, run, o}, nil
}

// Reopen reads the run again. Others may have accepted cases since.
func Reopen(r *Run) (*Run, error) {
	run, err := r.options.Places.State.Find(r.ID)
	if err != nil {
		return nil, err
	}
	return Open(run, r.options)
}

// Result returns the result of a case, nil if the run found no difference in it.
func (r *Run) Result(caseName string) *state.Result {
	i := slices.IndexFunc(r.Results, func(res state.Result) bool { return string(res.Name) == caseName })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}

// RequireFinished refuses a run that was interrupted, or is still under way. Such a run may lack
// results and outcomes. isLocked says that this process has locked the state folder, so that no
// run is under way.
func (r *Run) RequireFinished(isLocked bool) error {
	if r.State.Finished {
		return nil
	}
	if who, busy := r.options.Places.State.AtWork(); busy && !isLocked {
		return fault.Inputf("run %s has no end yet, and another muster%s is at work in %s: wait for it, or name an earlier run with --run", r.ID, who, r.options.Folder)
	}
	return fault.Inputf("run %s did not finish: go on with the same %s and --resume, or make a new run", r.ID, r.Command)
}
