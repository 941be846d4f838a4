package pastrun

import (
	"cmp"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/place"
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
