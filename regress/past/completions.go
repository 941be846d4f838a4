package past

import (
	"context"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// A Completion is a word that a shell completes, with its description.
type Completion struct{ Word, Text string }

// DifferingCompletions returns the cases that were not identical in a past run, in printed form.
// A case whose name looks like the ID of a cause is named ./G1. An empty id means the last run.
func DifferingCompletions(o regress.Options, h host.Host, id string) ([]Completion, error) {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return nil, err
	}
	list := make([]Completion, len(p.Run.Results))
	for i, r := range p.Run.Results {
		word := name.Typed(string(r.Name))
		if pastrun.IsCauseID(word) {
			word = "./" + word
		}
		list[i] = Completion{Word: word}
	}
	return list, nil
}

// CauseCompletions returns the causes of a past run. An empty id means the last run.
func CauseCompletions(o regress.Options, h host.Host, id string) (list []Completion, err error) {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return nil, err
	}
	found, err := p.Run.CausesIfAny()
	if err != nil || found == nil {
		return nil, err
	}
	for _, c := range found.Causes {
		list = append(list, Completion{c.ID, c.Name})
	}
	return list, nil
}

// RecordedCompletions returns the cases of the golden if the run is a record. An empty id means the
// last run.
func RecordedCompletions(ctx context.Context, o regress.Options, h host.Host, id string) (list []Completion, err error) {
	run, err := state.FindRun(state.Open(o.Store.State), id)
	if err != nil || run.Command != regress.RecordCommand {
		return nil, err
	}
	p, err := pastrun.New(run, &o, h, "")
	if err != nil {
		return nil, err
	}
	base, err := p.Run.OpenBase(ctx)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	for n := range base.Names() {
		list = append(list, Completion{Word: name.Typed(n)})
	}
	return list, nil
}

// RunCompletions returns the past runs, the last one first. Without withRecords it returns only those
// that have differences.
func RunCompletions(o regress.Options, withRecords bool) (list []Completion, err error) {
	runs, err := state.Open(o.Store.State).Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !state.IsCheck(r) && !(withRecords && r.Command == regress.RecordCommand) {
			continue
		}
		sum, err := keptIn(r)
		if err != nil {
			return nil, err
		}
		list = append([]Completion{{name.Print(r.ID), r.Command + " " + runText(r, sum)}}, list...)
	}
	return list, nil
}
