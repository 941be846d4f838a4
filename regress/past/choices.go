package past

import (
	"context"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/state"
)

// A Choice is a word that a shell completes, with its description.
type Choice struct{ Word, Text string }

// DifferingChoices returns the cases that were not identical in a past run, in printed form.
// A case whose name looks like the ID of a cause is named ./G1. An empty id means the last run.
func DifferingChoices(o regress.Options, h host.Host, id string) ([]Choice, error) {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return nil, err
	}
	list := make([]Choice, len(p.Run.Results))
	for i, r := range p.Run.Results {
		word := name.Typed(string(r.Name))
		if pastrun.IsCauseID(word) {
			word = "./" + word
		}
		list[i] = Choice{Word: word}
	}
	return list, nil
}

// CauseChoices returns the causes of a past run. An empty id means the last run.
func CauseChoices(o regress.Options, h host.Host, id string) (list []Choice, err error) {
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return nil, err
	}
	found, err := p.Run.CausesIfAny()
	if err != nil || found == nil {
		return nil, err
	}
	for _, c := range found.Causes {
		list = append(list, Choice{c.ID, c.Name})
	}
	return list, nil
}

// RecordedChoices returns the cases of the golden if the run is a record. An empty id means the
// last run.
func RecordedChoices(ctx context.Context, o regress.Options, h host.Host, id string) (list []Choice, err error) {
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
		list = append(list, Choice{Word: name.Typed(n)})
	}
	return list, nil
}

// RunChoices returns the past runs, the last one first. Without records it returns only those
// that have differences.
func RunChoices(o regress.Options, records bool) (list []Choice, err error) {
	runs, err := state.Open(o.Store.State).Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !state.IsCheck(r) && !(records && r.Command == regress.RecordCommand) {
			continue
		}
		sum, err := keptIn(r)
		if err != nil {
			return nil, err
		}
		list = append([]Choice{{name.Print(r.ID), r.Command + " " + runText(r, sum)}}, list...)
	}
	return list, nil
}
