package regress

import (
	"context"
	"errors"
	"os"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// past is a run that is looked at again.
type past struct {
	run     *state.Run
	options Options
	results []state.Result
	locked  bool // by this process, so that no run is under way
}

func openPast(o *Options, id string) (*past, error) {
	run, err := state.FindCheck(state.Open(o.Store.State), id)
	if err != nil {
		return nil, err
	}
	return pastOf(run, o)
}

func pastOf(run *state.Run, o *Options) (p *past, err error) {
	p = &past{run: run}
	if p.options, err = optionsOf(run); err != nil {
		return nil, err
	}
	overrideKept(&p.options, o)
	p.results, err = run.Results()
	return p, err
}

// result returns the result of a case, nil if the run found no difference in it.
func (p *past) result(raw string) *state.Result {
	i := slices.IndexFunc(p.results, func(r state.Result) bool { return string(r.Name) == raw })
	if i < 0 {
		return nil
	}
	return &p.results[i]
}

// decisions returns what was decided on the run, by ID.
func (p *past) decisions() (map[string]review.State, error) {
	encoded, err := p.run.Decisions()
	if err != nil {
		return nil, err
	}
	by, err := review.DecodeDecisions(encoded)
	if err != nil {
		return nil, fault.Inputf("%s, what was decided on run %s, is damaged: %w: remove it, then decide again", p.run.File("decisions.json"), p.run.ID, err)
	}
	return by, nil
}

func (p *past) saveDecisions(by map[string]review.State) error {
	encoded, err := review.EncodeDecisions(by)
	if err != nil {
		return fault.Environmentf("state of run %s: %w", p.run.ID, err)
	}
	return p.run.SaveDecisions(encoded)
}

// outcomes opens what the run kept of the cases that were not identical.
func (p *past) outcomes() (*golden.Store, error) {
	return p.kept(p.run.Outcomes())
}

// outcomesIfAny is like outcomes, but returns nil if the run kept none. A merged run keeps none
// if it has missing cases alone.
func (p *past) outcomesIfAny() (*golden.Store, error) {
	if _, err := os.Stat(p.run.Outcomes()); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return p.outcomes()
}

// kept opens one of the stores of the run.
func (p *past) kept(path string) (*golden.Store, error) {
	found, err := golden.Open(path)
	if fault.ClassOf(err) == fault.Input { // golden's own mend is that of a golden
		return nil, fault.Inputf("%s, what run %s kept, is damaged or gone: run muster %s again", path, p.run.ID, p.run.Command)
	}
	return found, err
}

// base opens what the run compared with.
func (p *past) base(ctx context.Context) (*place.Golden, error) {
	if p.run.Command == report.CompareCommand {
		base, err := p.kept(p.run.References())
		return place.NewGolden(base), err
	}
	path := p.options.Store.Golden
	base, err := place.Open(ctx, path, placeOptions(&p.options))
	if err != nil {
		return nil, place.ExplainMissing(path, err)
	}
	return base, nil
}

// finished refuses a run that was broken off, or is still under way: what it has no result
// for may differ all the same, and the outcomes that it kept are not complete.
func (p *past) finished() error {
	if p.run.Finished {
		return nil
	}
	if who, busy := state.Open(p.options.Store.State).AtWork(); busy && !p.locked {
		return fault.Inputf("run %s has no end yet, and another muster%s is at work in %s: wait for it, or name an earlier run with --run", p.run.ID, who, p.options.Store.State)
	}
	return fault.Inputf("run %s did not finish: go on with the same %s and --resume, or make a new run", p.run.ID, p.run.Command)
}
