package regress

import (
	"cmp"

	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/opt"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// past is a past run with its options.
type past struct {
	run     *pastrun.Run
	options opt.Options
	host    host.Host
}

// openPast opens a check or compare by the beginning of its ID; "" is the last one.
func openPast(o *opt.Options, h host.Host, id string) (*past, error) {
	return openPastFor(o, h, id, "")
}

// openPastFor is like openPast, for a check whose golden has another name now. "" is the name that
// the check had for it.
func openPastFor(o *opt.Options, h host.Host, id, goldenName string) (*past, error) {
	run, err := state.FindCheck(state.Open(o.Store.State), id)
	if err != nil {
		return nil, err
	}
	return newPast(run, o, h, goldenName)
}

func newPast(run *state.Run, o *opt.Options, h host.Host, goldenName string) (*past, error) {
	options, err := job.Decode(run)
	if err != nil {
		return nil, err
	}
	job.OverrideKept(&options, o)
	options.Store.Golden = cmp.Or(goldenName, options.Store.Golden)
	r, err := pastrun.Open(run, pastrun.Options{Folder: options.Store.State, Golden: options.Store.Golden, Places: placeOptions(&options, h)})
	return &past{r, options, h}, err
}

// summaryOf returns the summary that is kept with the run.
func summaryOf(p *past) (state.Summary, error) {
	k, err := state.Decode[state.Summary](p.run.State.Summary)
	if err != nil {
		return k, fault.Inputf("%s, the summary of run %s, is damaged: %w: check again", p.run.State.File("run.json"), p.run.ID, err)
	}
	return k, nil
}
