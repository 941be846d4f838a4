package regress

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

// decided are decisions on a past run that take effect together.
type decided struct {
	causes map[string]state.Decision // by ID, those that are new
	cases  []*state.Result           // to be promoted whatever their causes
	found  *cause.Found              // nil for a run that kept no causes
}

// effect is what decisions come to.
type effect struct {
	promoted []*state.Result // every one that was not accepted before
	// waiting counts the cases that have an accepted cause among the new decisions, and
	// another one that is not accepted, by that other one's ID.
	waiting map[string]int
	waits   int // those cases
	notes   []string
}

// settle works out what decisions come to, together with those that the run has.
func (p *past) settle(d decided) (e effect, all map[string]state.Decision, err error) {
	if all, err = p.run.Decisions(); err != nil {
		return e, nil, err
	}
	maps.Copy(all, d.causes)
	e.waiting = map[string]int{}
	chosen := map[string]bool{}
	for _, r := range d.cases {
		chosen[string(r.Name)] = true
	}
	accepted := p.accepted()
	if d.found != nil {
		e.ready(d.found, d.causes, all, chosen, accepted)
	}
	for i := range p.results {
		if r := &p.results[i]; chosen[string(r.Name)] && !r.Accepted {
			e.promoted = append(e.promoted, r)
		}
	}
	if d.found != nil {
		acceptWhole(d.found, all, chosen, accepted)
	}
	return e, all, nil
}

// acceptWhole accepts the causes of which every case is in the golden by now, and one at
// least went there with this: whoever takes all cases of a cause has taken it. A cause that
// has a case outside stays as it is: that case would follow without being asked for.
func acceptWhole(found *cause.Found, all map[string]state.Decision, chosen, accepted map[string]bool) {
	outside, comes := map[int]bool{}, map[int]bool{}
	for _, m := range found.Members {
		for _, i := range m.Causes {
			comes[i] = comes[i] || chosen[m.Name]
			outside[i] = outside[i] || !chosen[m.Name] && !accepted[m.Name]
		}
	}
	for i := range found.Causes {
		if comes[i] && !outside[i] {
			all[found.Causes[i].ID] = state.Accepted
		}
	}
}

// accepted returns the names of the cases that the golden has as this run gave them.
func (p *past) accepted() map[string]bool {
	names := map[string]bool{}
	for i := range p.results {
		if r := &p.results[i]; r.Accepted {
			names[string(r.Name)] = true
		}
	}
	return names
}

// ready chooses the cases whose causes are all accepted, of those that have one which was
// accepted now. Those that are in the golden already, by their names, wait for nothing.
func (e *effect) ready(found *cause.Found, now, all map[string]state.Decision, chosen, accepted map[string]bool) {
	id := func(i int) string { return found.Causes[i].ID }
	for _, m := range found.Members {
		if !slices.ContainsFunc(m.Causes, func(i int) bool { return now[id(i)] == state.Accepted }) {
			continue
		}
		open := slices.DeleteFunc(slices.Clone(m.Causes), func(i int) bool { return all[id(i)] == state.Accepted })
		if len(open) == 0 {
			chosen[m.Name] = true
			continue
		}
		if chosen[m.Name] || accepted[m.Name] {
			continue
		}
		e.waits++
		for _, i := range open {
			e.waiting[id(i)]++
		}
	}
}

// decide makes decisions take effect: what is promoted goes into the golden in one
// transaction, then the decisions are kept. The state must be locked, and the golden be
// one that accepts of this run may go into (checkGolden).
func (p *past) decide(ctx context.Context, base *located, d decided) (e effect, err error) {
	e, all, err := p.settle(d)
	if err != nil {
		return e, err
	}
	if len(e.promoted) > 0 {
		e.notes, err = p.promote(ctx, base, e.promoted)
	} else {
		err = p.run.SaveResults(p.results) // with the marks as they are recalled
	}
	if err != nil {
		return e, err
	}
	if d.found != nil {
		err = p.run.SaveDecisions(all)
	}
	return e, err
}

// pointed is what somebody pointed at: a cause, by its ID, or a case.
type pointed struct {
	cause  *cause.Cause
	found  *cause.Found // has the cause
	result *state.Result
}

// point finds out what G1 or a name stands for. A case that is called like a cause is
// named ./G1.
func (p *past) point(text string) (n pointed, err error) {
	if isCauseID(text) {
		if n.found, err = p.causes(); err != nil {
			return n, err
		}
		for i := range n.found.Causes {
			if n.found.Causes[i].ID == text {
				n.cause = &n.found.Causes[i]
				return n, nil
			}
		}
		if raw, err := parseName(text); err != nil || !slices.ContainsFunc(p.results, func(r state.Result) bool { return string(r.Name) == raw }) {
			return n, fault.Inputf("run %s has no cause %s, it has %d: muster groups lists them", p.run.ID, text, len(n.found.Causes))
		}
	}
	raw, err := parseName(text)
	if err != nil {
		return n, err
	}
	n.result, err = p.result(raw)
	return n, err
}

func isCauseID(text string) bool {
	if len(text) < 2 || text[0] != 'G' {
		return false
	}
	for _, c := range text[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// choose picks the results to accept and the causes, and counts by verdict those that
// --all leaves out.
func (p *past) choose(a Acceptance) (d decided, left map[outcome.Verdict]int, err error) {
	d.causes, left = map[string]state.Decision{}, map[outcome.Verdict]int{}
	if d.found, err = p.causesIfAny(); err != nil {
		return d, nil, err
	}
	if a.All {
		for i := range p.results {
			switch r := &p.results[i]; {
			case r.Accepted, a.takes(r):
				d.cases = append(d.cases, r)
			default:
				left[r.Verdict]++
			}
		}
		return d, left, nil
	}
	for _, text := range a.Names {
		n, err := p.point(text)
		switch {
		case err != nil:
			return d, nil, err
		case n.cause != nil:
			d.causes[n.cause.ID] = state.Accepted
		case n.result.Verdict == outcome.Environment:
			return d, nil, fault.Inputf("%s was not judged, the machine failed: run it again with muster rerun --failed", text)
		default:
			d.cases = append(d.cases, n.result)
		}
	}
	return d, left, nil
}

// promote writes the chosen outcomes into the golden in one transaction, and
// says under which settings, other than the golden's, they came to be.
func (p *past) promote(ctx context.Context, base *located, chosen []*state.Result) (notes []string, err error) {
	var found *golden.Store
	if slices.ContainsFunc(chosen, func(r *state.Result) bool { return r.Verdict != outcome.Missing }) {
		if found, err = p.outcomes(); err != nil {
			return nil, err
		}
		defer found.Close()
	}
	err = base.update(ctx, func(tx *golden.Tx) error {
		notes = p.settingsDiffer(tx.Meta())
		if err := p.sign(tx); err != nil {
			return err
		}
		for _, r := range chosen {
			if err := promoteOne(tx, found, p.run.ID, r); err != nil {
				return fmt.Errorf("accept %s: %w", name.Print(string(r.Name)), err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range chosen {
		r.Accepted = true
	}
	return notes, p.run.SaveResults(p.results)
}
