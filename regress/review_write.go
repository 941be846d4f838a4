package regress

import (
	"context"
	"fmt"
	"slices"

	"muster/internal/wording"
	"muster/regress/internal/fault"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// A writing is what accept or a review writes of a run at once. The state must be locked.
type writing struct {
	past      *past
	decisions map[string]review.State    // all that there are then, by ID
	goes      func(caseName string) bool // which cases go into the golden, unless they are there
	reason    string                     // of the accept; "" = none
	base      place.Place                // as checkGolden lets it pass; nil = it is looked for where a case goes into it

	promoted    []*state.Result // that were not in the golden before
	keepCommand bool            // do not move the golden's command
	move        commandMove     // of that command
}

// write keeps the decisions, and then promotes. In this order: who is killed in between
// leaves decisions of which the golden has nothing yet; groups says so, and the next accept
// or review does the rest. The other way round the golden would be another one, and what
// was decided be lost: that a case was rejected, or accepted and waits for others.
//
// unpromoted is why no case went into the golden, although the decisions are kept.
func (w *writing) write(ctx context.Context) (unpromoted, err error) {
	if err := w.past.run.SaveDecisions(w.decisions); err != nil {
		return nil, err
	}
	if w.past.run.Command != report.CheckCommand {
		return nil, nil
	}
	return w.promote(ctx), nil
}

func (w *writing) promote(ctx context.Context) (err error) {
	p := w.past
	goes := func(r state.Result) bool { return w.goes(string(r.Name)) }
	if w.base == nil {
		if !slices.ContainsFunc(p.run.Results, goes) {
			return nil
		}
		if w.base, err = place.Find(ctx, p.options.Store.Golden, placeOptions(&p.options)); err != nil {
			return err
		}
		defer w.base.Close()
		if err := p.checkGolden(ctx, w.base); err != nil {
			return err
		}
	}
	for i := range p.run.Results {
		if r := &p.run.Results[i]; !r.Accepted && goes(*r) {
			w.promoted = append(w.promoted, r)
		}
	}
	if len(w.promoted) == 0 {
		return p.run.State.SaveResults(p.run.Results) // with the marks as they are recalled
	}
	return w.commit(ctx)
}

// unpromotedText words that no case went into the golden, although decisions were kept.
func unpromotedText(why error) error {
	return fmt.Errorf("the decisions are written, and no case is accepted: %w", why)
}

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
	result.Promoted = pastrun.AcceptedIn(p.run.Results)
	states := review.WithPromoted(w.Items, w.Cases, theirs, result.Promoted)
	if result.Decisions, result.Conflicts = review.Merge(c, states); len(result.Conflicts) > 0 {
		result.Decisions = states
		return result, nil
	}
	result.Decided = len(c.Decisions)
	commit := writing{past: p, decisions: result.Decisions, goes: ready(w.Agenda, result.Decisions)}
	unpromoted, err := commit.write(ctx)
	if err != nil {
		return result, err
	}
	w.texts.renew()
	result.Promoted = pastrun.AcceptedIn(p.run.Results)
	switch {
	case fault.ClassOf(unpromoted) == fault.Input:
		result.Refused = wording.Of(unpromoted)
	case unpromoted != nil:
		return result, unpromotedText(unpromoted)
	default:
		result.Accepted, result.Notes = len(commit.promoted), commit.move.texts()
	}
	return result, nil
}

// ready returns a function that reports whether all items of a case are accepted.
func ready(a *pastrun.Agenda, decided map[string]review.State) func(caseName string) bool {
	r, ready := review.New(a.Items, a.Cases, decided), map[string]bool{}
	for i, c := range a.Cases {
		ready[c.Name] = r.Ready(i)
	}
	return func(caseName string) bool { return ready[caseName] }
}
