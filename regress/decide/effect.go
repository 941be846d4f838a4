package decide

import (
	"maps"
	"slices"

	"muster/regress/internal/cause"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// effect is the effect of an accept, or of the decisions in a review, on a run.
type effect struct {
	before    map[string]review.State // the decisions until now, by ID
	decisions map[string]review.State // the decisions from now on, by ID
	goes      map[string]bool         // names of cases whose outcomes the golden will have
	waits     int                     // selected cases with an accepted cause that wait for another one
	waiting   map[string]int          // how many cases wait for a cause, by its ID
}

// acceptSelection works out the effect of accepting a selection. It decides a review in that way, and
// leaves out cases that were not selected. before holds the decisions until now.
func acceptSelection(run *pastrun.Run, found *cause.Found, before map[string]review.State, s *selection) effect {
	a, isAccepted := pastrun.NewAgenda(run.Results, found), pastrun.AcceptedIn(run.Results)
	written := review.WithPromoted(a.Items, a.Cases, before, isAccepted)
	r := a.Review(written, isAccepted)
	for _, id := range slices.Sorted(maps.Keys(s.causes)) {
		r.Decide(id, review.Accepted)
	}
	r.Take(func(caseName string) bool { return s.cases[caseName] })

	isSelected := func(i int) bool { return s.causes[a.Items[i].ID] }
	e := effect{before: before, goes: maps.Clone(s.cases), waiting: map[string]int{}}
	for i, c := range r.Cases() {
		if r.Promotable(i) && slices.ContainsFunc(c.Items, isSelected) && s.matches(c.Name) {
			e.goes[c.Name] = true
		}
	}
	decided := r
	if s.only != nil { // a cause is accepted only with all its cases
		decided = a.Review(written, isAccepted)
		decided.Take(func(caseName string) bool { return e.goes[caseName] })
	}
	e.decisions, _ = review.Merge(decided.Changes(), written) // the state is locked: nobody else decides
	for _, w := range r.Waiting() {
		if c := a.Cases[w.Case]; slices.ContainsFunc(c.Items, isSelected) && s.matches(c.Name) {
			e.waits++
			for _, i := range w.For {
				e.waiting[a.Items[i].ID]++
			}
		}
	}
	return e
}

// applyDecisions works out the effect of the decisions in a review: a case goes into the golden if
// all its items are accepted. before holds the decisions until now.
func applyDecisions(a *pastrun.Agenda, before, decisions map[string]review.State) effect {
	r, e := review.New(a.Items, a.Cases, decisions), effect{before: before, decisions: decisions, goes: map[string]bool{}}
	for i, c := range a.Cases {
		if r.Ready(i) {
			e.goes[c.Name] = true
		}
	}
	return e
}

// promotions returns the results that an effect puts into a golden. Accepted results are in it
// already.
func (e *effect) promotions(run *pastrun.Run) (list []*state.Result) {
	for i := range run.Results {
		if r := &run.Results[i]; !r.Accepted && e.goes[string(r.Name)] {
			list = append(list, r)
		}
	}
	return list
}
