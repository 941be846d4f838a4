package regress

import (
	"context"
	"fmt"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// write implements review.Desk.Write. It works on a fresh view of the run: others may
// have decided and accepted since.
func (w *reviewed) write(ctx context.Context, c review.Changes) (result review.Result, err error) {
	unlock, err := state.Open(w.past.options.Store.State).Lock()
	if err != nil {
		return result, err
	}
	defer unlock()
	p, theirs, err := w.reread()
	if err != nil {
		return result, err
	}
	result.Promoted = promotedIn(p.results)
	states := w.withPromoted(statesOf(theirs), result.Promoted)
	if result.Decisions, result.Conflicts = review.Merge(c, states); len(result.Conflicts) > 0 {
		result.Decisions = states
		return result, nil
	}
	result.Decided = len(c.Decisions)
	if err := p.run.SaveDecisions(decisionsOf(result.Decisions)); err != nil {
		return result, err
	}
	if p.run.Command != report.CheckCommand {
		return result, nil
	}
	err = w.promoteReady(ctx, p, &result)
	w.texts.renew()
	result.Promoted = promotedIn(p.results)
	if fault.ClassOf(err) == fault.Input {
		result.Refused, err = err.Error(), nil
	}
	if err != nil {
		err = fmt.Errorf("the decisions are written, and no case is accepted: %w", err)
	}
	return result, err
}

func decisionsOf(states map[string]review.State) map[string]state.Decision {
	decided := map[string]state.Decision{}
	for id, s := range states {
		decided[id] = state.Decision(s)
	}
	return decided
}

// promoteReady promotes the cases of which all items are accepted.
func (w *reviewed) promoteReady(ctx context.Context, p *past, result *review.Result) error {
	isReady := func(r *state.Result) bool {
		items := w.itemsOf[string(r.Name)]
		return len(items) > 0 && !slices.ContainsFunc(items, func(i int) bool { return result.Decisions[w.items[i].ID] != review.Accepted })
	}
	if !slices.ContainsFunc(p.results, func(r state.Result) bool { return isReady(&r) }) {
		return nil
	}
	base, err := p.options.locate(ctx, p.options.Store.Golden)
	if err != nil {
		return err
	}
	defer base.close()
	if err := p.checkGolden(ctx, base); err != nil {
		return err
	}
	var chosen []*state.Result
	for i := range p.results {
		if r := &p.results[i]; !r.Accepted && isReady(r) {
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return p.run.SaveResults(p.results) // with the marks as they are recalled
	}
	notes, err := p.promote(ctx, base, chosen)
	if err != nil {
		return err
	}
	result.Accepted, result.Notes = len(chosen), notes
	return nil
}
