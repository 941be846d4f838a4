package regress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/glob"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// named is what is to be accepted.
type named struct {
	causes map[string]bool // by ID
	cases  map[string]bool // by name: they go into the golden whatever their causes
	only   *glob.Set       // of names, for cases of causes too; nil = all
	found  *cause.Found    // nil for a run that kept no causes
}

func (n *named) matches(caseName string) bool { return n.only == nil || n.only.Match(caseName) }

// effect is what accepting comes to.
type effect struct {
	before    map[string]review.State // what is decided, by ID
	decisions map[string]review.State // all that is then
	promoted  []*state.Result         // every one that was not accepted before
	// waiting counts the cases that have an accepted cause among those that are named, and
	// another one that is not accepted, by that other one's ID.
	waiting map[string]int
	waits   int // those cases
	move    commandMove
}

// settle works out what accepting comes to, together with what is decided on the run: as a
// review in which that is decided, of which only what was asked for goes into the golden.
func (p *past) settle(n named) (e effect, err error) {
	if e.before, err = p.run.Decisions(); err != nil {
		return e, err
	}
	d, inside := pastrun.NewAgenda(p.run.Results, n.found), pastrun.AcceptedIn(p.run.Results)
	written := review.WithPromoted(d.Items, d.Cases, e.before, inside)
	r := d.Review(written, inside)
	for _, id := range slices.Sorted(maps.Keys(n.causes)) {
		r.Decide(id, review.Accepted)
	}
	r.Take(func(caseName string) bool { return n.cases[caseName] })

	isAsked := func(i int) bool { return n.causes[d.Items[i].ID] }
	goes := maps.Clone(n.cases)
	for i, c := range r.Cases() {
		if r.Promotable(i) && slices.ContainsFunc(c.Items, isAsked) && n.matches(c.Name) {
			goes[c.Name] = true
		}
	}
	decided := r
	if n.only != nil { // a cause is accepted only with all its cases
		decided = d.Review(written, inside)
		decided.Take(func(caseName string) bool { return goes[caseName] })
	}
	e.decisions, _ = review.Merge(decided.Changes(), written) // the state is locked: nobody else decides
	for i := range p.run.Results {
		if result := &p.run.Results[i]; goes[string(result.Name)] && !result.Accepted {
			e.promoted = append(e.promoted, result)
		}
	}
	e.waiting = map[string]int{}
	for _, w := range r.Waiting() {
		if c := d.Cases[w.Case]; slices.ContainsFunc(c.Items, isAsked) && n.matches(c.Name) {
			e.waits++
			for _, i := range w.For {
				e.waiting[d.Items[i].ID]++
			}
		}
	}
	return e, nil
}

// accept makes what is named part of the golden, which must be one that accepts of this run
// may go into (checkGolden), all or nothing: where the golden cannot be written, what is
// decided is put back. The state must be locked.
func (p *past) accept(ctx context.Context, base place.Place, n named, a Acceptance) (e effect, err error) {
	e, err = p.settle(n)
	if err != nil {
		return e, err
	}
	goes := map[string]bool{}
	for _, r := range e.promoted {
		goes[string(r.Name)] = true
	}
	w := writing{past: p, decisions: e.decisions, goes: func(caseName string) bool { return goes[caseName] }, base: base, reason: a.Reason, keepCommand: a.KeepCommand}
	unpromoted, err := w.write(ctx)
	if err != nil {
		return e, err
	}
	if unpromoted != nil && !slices.ContainsFunc(w.promoted, func(r *state.Result) bool { return r.Accepted }) {
		if err := p.run.SaveDecisions(e.before); err != nil {
			return e, errors.Join(unpromotedText(unpromoted), err)
		}
	}
	e.move = w.move
	return e, unpromoted
}

// choose picks the cases to accept and the causes, and counts by verdict those that
// --all leaves out.
func (p *past) choose(ctx context.Context, a Acceptance) (n named, left map[outcome.Verdict]int, err error) {
	n.causes, n.cases, left = map[string]bool{}, map[string]bool{}, map[outcome.Verdict]int{}
	if n.found, err = p.run.CausesIfAny(); err != nil {
		return n, nil, err
	}
	if len(a.Globs) > 0 {
		if n.only, err = p.globsOf(a.Globs); err != nil {
			return n, nil, err
		}
	}
	if a.All {
		for i := range p.run.Results {
			switch r := &p.run.Results[i]; {
			case !n.matches(string(r.Name)):
			case r.Accepted, a.takes(r):
				n.cases[string(r.Name)] = true
			default:
				left[r.Verdict]++
			}
		}
		return n, left, nil
	}
	for _, text := range a.Names {
		at, err := p.run.FindTarget(ctx, text)
		switch {
		case err != nil:
			return n, nil, err
		case at.Cause != nil:
			n.causes[at.Cause.ID] = true
		case at.Result.Verdict == outcome.Environment:
			return n, nil, fault.Inputf("%s was not judged, the machine failed: run it again with muster rerun --failed", text)
		case n.matches(string(at.Result.Name)):
			n.cases[string(at.Result.Name)] = true
		}
	}
	return n, left, nil
}

// globsOf compiles globs. It refuses globs that match no case of the run.
func (p *past) globsOf(globs []string) (*glob.Set, error) {
	only, err := glob.Compile(globs...)
	if err != nil {
		return nil, fault.Inputf("--cases: %w", err)
	}
	if !slices.ContainsFunc(p.run.Results, func(r state.Result) bool { return only.Match(string(r.Name)) }) {
		return nil, fault.Emptyf("--cases %s: no case that differs in run %s matches: muster groups lists the differences", name.QuoteAll(globs), p.run.ID)
	}
	return only, nil
}

// commit writes the outcomes of what is promoted into the golden in one transaction, and moves
// its command if it can.
func (w *writing) commit(ctx context.Context) (err error) {
	p := w.past
	open := p.run.OpenOutcomesIfAny
	if hasOutcomes(w.promoted) {
		open = p.run.OpenOutcomes
	}
	found, err := open()
	if err != nil {
		return err
	}
	if found != nil {
		defer found.Close()
	}
	for _, r := range w.promoted {
		r.Accepted = true
	}
	err = w.base.Update(ctx, func(tx *golden.Tx) error { return w.put(tx, found) })
	if err != nil {
		for _, r := range w.promoted {
			r.Accepted = false
		}
		return err
	}
	return p.run.State.SaveResults(p.run.Results)
}

// hasOutcomes reports whether the corpus has one of the cases.
func hasOutcomes(promoted []*state.Result) bool {
	return slices.ContainsFunc(promoted, func(r *state.Result) bool { return r.Verdict != outcome.Missing })
}

// put changes a golden. found is nil if the run kept no outcomes.
func (w *writing) put(tx *golden.Tx, found *golden.Store) error {
	p := w.past
	w.move = commandMove{}
	m, err := p.signed(tx, found != nil && found.Meta().OnEngine() && hasOutcomes(w.promoted), w.reason)
	if err != nil {
		return err
	}
	if found != nil {
		if w.move, err = p.moveCommand(&m, found.Meta(), tx.Names(), w.keepCommand); err != nil {
			return err
		}
	}
	if err := tx.SetMeta(m); err != nil {
		return err
	}
	for _, r := range w.promoted {
		if err := w.promoteOne(tx, found, r); err != nil {
			return fmt.Errorf("accept %s: %w", name.Print(string(r.Name)), err)
		}
	}
	return nil
}
