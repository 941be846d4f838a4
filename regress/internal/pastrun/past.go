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
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// A Past is a past run with the options that it had, except those of the present command.
type Past struct {
	Run     *Run
	Options regress.Options
	Host    host.Host
}

// OpenLast finds and opens a check or compare by the beginning of its ID; "" is the last one.
func OpenLast(o *regress.Options, h host.Host, id string) (*Past, error) {
	return OpenFor(o, h, id, "")
}

// OpenFor is like OpenLast, for a check whose golden has another name now. "" is the name that
// the check had for it.
func OpenFor(o *regress.Options, h host.Host, id, goldenName string) (*Past, error) {
	run, err := state.FindCheck(state.Open(o.Store.State), id)
	if err != nil {
		return nil, err
	}
	return New(run, o, h, goldenName)
}

// New returns the past run of the files, with options of the present command o. goldenName is the
// present name of its golden; "" = the recorded one.
func New(run *state.Run, o *regress.Options, h host.Host, goldenName string) (*Past, error) {
	options, err := job.Decode(run)
	if err != nil {
		return nil, err
	}
	job.OverrideKept(&options, o)
	options.Store.Golden = cmp.Or(goldenName, options.Store.Golden)
	r, err := Open(run, Options{Folder: options.Store.State, Golden: options.Store.Golden, Places: place.NewOptions(options.Store.State, h.Files)})
	return &Past{r, options, h}, err
}

// WithRun returns p with another state of its run.
func (p *Past) WithRun(r *Run) *Past { return &Past{r, p.Options, p.Host} }

// SummaryOf returns the summary that is kept with the run.
func SummaryOf(p *Past) (state.Summary, error) {
	k, err := state.Decode[state.Summary](p.Run.State.Summary)
	if err != nil {
		return k, fault.Inputf("%s is damaged: its summary of run %s cannot be read; check again", p.Run.State.File("run.json"), p.Run.ID)
	}
	return k, nil
}

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
		return nil, fault.Inputf("%s, the outcomes of run %s, is damaged or gone: run muster %s again", path, r.ID, r.Command)
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

// Causes returns the causes that the run kept. The run must have finished.
func (r *Run) Causes() (*cause.Found, error) {
	if err := r.RequireFinished(false); err != nil {
		return nil, err
	}
	return r.CausesIfAny()
}

// CausesIfAny returns nil for a run that has not finished, and for a record.
func (r *Run) CausesIfAny() (*cause.Found, error) {
	found, err := state.Causes(r.State, cause.Decode)
	if err == nil && found == nil && r.State.Finished && r.Command != regress.RecordCommand {
		err = fault.Inputf("%s, the causes of run %s, is gone: run muster %s again", r.State.File("causes.json"), r.ID, r.Command)
	}
	if err != nil || found == nil {
		return nil, err
	}
	return analyse.MakePrintable(found), nil
}

// Decisions returns the decisions on the run, by ID.
func (r *Run) Decisions() (map[string]review.State, error) {
	return state.Decisions(r.State, review.DecodeDecisions)
}

// SaveDecisions replaces the decisions on the run. The state folder must be locked.
func (r *Run) SaveDecisions(decisions map[string]review.State) error {
	encoded, err := review.EncodeDecisions(decisions)
	if err != nil {
		return fault.Environmentf("state of run %s: %w", r.ID, err)
	}
	return r.State.SaveDecisions(encoded)
}
