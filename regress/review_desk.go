package regress

import (
	"context"

	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/readable"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// reviewed is a past run that is under review, by one reviewer or by several.
type reviewed struct {
	*pastrun.Agenda
	past  *past
	rules normalize.Rules
	texts *texted
}

func openReviewed(ctx context.Context, o Options, id string) (w *reviewed, err error) {
	p, err := openPast(&o, id)
	if err != nil {
		return nil, err
	}
	found, err := p.run.Causes()
	if err != nil {
		return nil, err
	}
	w = &reviewed{Agenda: pastrun.NewAgenda(p.run.Results, found), past: p}
	if w.rules, err = normalize.Parse(p.options.Judge.Normalize); err != nil {
		return nil, err
	}
	if len(w.Items) == 0 {
		return w, nil
	}
	w.texts, err = openTexted(ctx, p)
	return w, err
}

// close gives up the stores.
func (w *reviewed) close() error {
	if w.texts == nil {
		return nil
	}
	return w.texts.close()
}

// desk makes a review of the run, with the decisions that are written by now.
func (w *reviewed) desk(ctx context.Context) (*review.Desk, error) {
	now, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	d := &review.Desk{
		Review: review.New(w.Items, w.Cases, now.Decisions), Run: w.past.run.ID, Command: w.past.run.Command,
		Notes: now.Notes, Difference: w.difference, Write: w.write, Look: w.look,
	}
	if w.past.run.Command == report.CheckCommand {
		d.Golden = w.past.options.Store.Golden
	}
	d.CatchUp(now)
	return d, nil
}

// look implements review.Desk.Look.
func (w *reviewed) look(ctx context.Context) (now review.Now, err error) {
	p, decided, err := w.reread()
	if err != nil {
		return now, err
	}
	if err := w.aged(ctx, p, &now); err != nil {
		return now, err
	}
	now.Promoted = pastrun.AcceptedIn(p.run.Results)
	now.Decisions = review.WithPromoted(w.Items, w.Cases, decided, now.Promoted)
	if n := w.notJudged(); n > 0 {
		now.Notes = append(now.Notes, readable.Cases(n)+" not judged, for the machine failed: muster rerun --failed")
	}
	return now, nil
}

// aged says what has grown old since the run, and recalls what is no longer in the golden.
func (w *reviewed) aged(ctx context.Context, p *past, now *review.Now) error {
	newest, err := state.Open(p.options.Store.State).Last(func(r *state.Run) bool { return r.Command == p.run.Command && r.Finished }, p.run.Command)
	if err == nil && newest.ID != p.run.ID {
		now.Notes = append(now.Notes, "there is a newer "+p.run.Command+", run "+newest.ID)
	}
	if p.run.Command != report.CheckCommand {
		now.Shut = "a compare has none"
		now.Notes = append(now.Notes, "run "+p.run.ID+" was a compare: it has no golden, so decisions are all that is written")
		return nil
	}
	w.texts.heed(p)
	return w.texts.use(ctx, func(base, _ *golden.Store) error {
		if err := p.run.CheckGolden(p.options.Store.Golden, base.Digest(), base.Meta()); err != nil {
			now.Shut = "it has changed, so run muster check again"
			now.Notes = append(now.Notes, "the golden has changed since: run muster check again to accept into it")
			return nil
		}
		return w.texts.recall(p, base)
	})
}

func (w *reviewed) notJudged() (n int) {
	for _, r := range w.past.run.Results {
		if r.Verdict == outcome.Environment {
			n++
		}
	}
	return n
}

// reread reads what others may have written since.
func (w *reviewed) reread() (*past, map[string]review.State, error) {
	p := *w.past
	var err error
	if p.run, err = pastrun.Reopen(p.run); err != nil {
		return nil, nil, err
	}
	decided, err := p.run.Decisions()
	return &p, decided, err
}
