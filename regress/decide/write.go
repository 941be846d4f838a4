package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// transaction writes an effect on a run: first its decisions, then its golden. The state must be
// locked.
type transaction struct {
	past        *pastrun.Past
	effect      *effect
	at          place.Place // of the golden that recallMarks read; nil = find it if a case goes into it
	reason      string      // of the accept; "" = none
	keepCommand bool        // do not move the golden's command
}

// writeResult is the result of a transaction.
type writeResult struct {
	run      *pastrun.Run    // with its new marks
	promoted []*state.Result // results that were not in the golden before
	move     commandMove     // of the golden's command

	isPromoted bool  // the golden was changed
	refused    error // why no case went into the golden, although the decisions are written
}

// writeAll is like write, but restores the decisions if the golden was not changed.
func (t *transaction) writeAll(ctx context.Context) (writeResult, error) {
	w, err := t.write(ctx)
	if err != nil || w.refused == nil {
		return w, err
	}
	return w, t.undo(w)
}

// undo puts the decisions back as they were, unless the golden was changed. It returns why the write
// failed, and says what stays written.
func (t *transaction) undo(w writeResult) error {
	if w.isPromoted {
		return fmt.Errorf("the cases are accepted, but there was an error afterwards: %w", w.refused)
	}
	if err := w.run.SaveDecisions(t.effect.before); err != nil {
		return errors.Join(fmt.Errorf("no case is accepted, and the decisions could not be taken back: %w", w.refused), err)
	}
	return w.refused
}

// write writes the decisions, and then the golden. After a kill in between, the golden lacks cases
// whose causes are all accepted. The command groups reports them, and the next accept or review
// promotes them. In the other order a kill would lose decisions: a rejected cause, or an accepted
// one that waits for others.
func (t *transaction) write(ctx context.Context) (w writeResult, err error) {
	w.run = t.past.Run
	if err := w.run.SaveDecisions(t.effect.decisions); err != nil {
		return w, err
	}
	if w.run.Command == regress.CheckCommand {
		w.refused = t.writeGolden(ctx, &w)
	}
	return w, nil
}

// writeGolden finds the golden if that was not done before, and promotes cases into it.
func (t *transaction) writeGolden(ctx context.Context, w *writeResult) error {
	at := t.at
	if at == nil {
		if !slices.ContainsFunc(w.run.Results, func(r state.Result) bool { return t.effect.goes[string(r.Name)] }) {
			return nil
		}
		var err error
		if at, err = place.Find(ctx, t.past.Options.Store.Golden, place.NewOptions(t.past.Options.Store.State, t.past.Host.Files)); err != nil {
			return err
		}
		defer at.Close()
		p, err := recallMarks(ctx, t.past, at)
		if err != nil {
			return err
		}
		w.run = p.Run
	}
	if w.promoted = t.effect.promotions(w.run); len(w.promoted) == 0 {
		return w.run.State.SaveResults(w.run.Results) // with the recalled marks
	}
	return t.promote(ctx, at, w)
}

// promote changes the golden in one transaction, and then writes the marks of the results.
func (t *transaction) promote(ctx context.Context, at place.Place, w *writeResult) error {
	open := w.run.OpenOutcomesIfAny
	if haveOutcomes(w.promoted) {
		open = w.run.OpenOutcomes
	}
	found, err := open()
	if err != nil {
		return err
	}
	if found != nil {
		defer found.Close()
	}
	p := promotion{past: t.withPromoted(w), promoted: w.promoted, found: found, reason: t.reason, keepCommand: t.keepCommand}
	err = at.Update(ctx, p.put)
	if err != nil && !errors.Is(err, golden.ErrUnflushed) {
		return err
	}
	w.run, w.move, w.isPromoted = p.past.Run, p.move, true
	return errors.Join(err, w.run.State.SaveResults(w.run.Results))
}

// withPromoted returns the past run as it is once the promoted cases are accepted.
func (t *transaction) withPromoted(w *writeResult) *pastrun.Past {
	marks := w.run.Marks()
	for i := range w.run.Results {
		marks[i] = marks[i] || t.effect.goes[string(w.run.Results[i].Name)]
	}
	return t.past.WithRun(w.run.WithMarks(marks))
}

// preview returns what writeAll would do, and writes nothing.
func (t *transaction) preview(ctx context.Context) (writeResult, error) {
	w := writeResult{run: t.past.Run, promoted: t.effect.promotions(t.past.Run)}
	if len(w.promoted) == 0 {
		return w, nil
	}
	found, err := w.run.OpenOutcomesIfAny()
	if err != nil || found == nil {
		return w, err
	}
	defer found.Close()
	recorded, err := t.at.Open(ctx)
	if err != nil {
		return w, err
	}
	defer recorded.Close()
	ignored, err := previewIgnored(recorded, found, w.promoted)
	if err != nil {
		return w, err
	}
	p, m := t.withPromoted(&w), recorded.Meta()
	m.Accepts = append(slices.Clip(m.Accepts), sign(p, t.reason))
	w.move, err = moveCommand(p, &m, found.Meta(), recorded.Names(), t.keepCommand)
	w.move.ignored = ignored
	return w, err
}
