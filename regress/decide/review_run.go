package decide

import (
	"context"
	"maps"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// reviewedRun is a past run that a reviewer decides on.
type reviewedRun struct {
	past   *pastrun.Past
	agenda *pastrun.Agenda
	rules  normalize.Rules
	stores reviewStores
}

func openReviewedRun(o *regress.Options, h host.Host, id string) (w *reviewedRun, err error) {
	p, err := pastrun.OpenLast(o, h, id)
	if err != nil {
		return nil, err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return nil, err
	}
	w = &reviewedRun{past: p, agenda: pastrun.NewAgenda(p.Run.Results, found), stores: reviewStores{past: p}}
	w.rules, err = normalize.Parse(p.Options.Judge.Normalize)
	return w, err
}

// openDesk begins a review of the run, with the decisions that are written by now. The cursor is at the
// first item without one.
func (w *reviewedRun) openDesk(ctx context.Context) (*review.Desk, error) {
	now, err := w.readNow(ctx)
	if err != nil {
		return nil, err
	}
	d := &review.Desk{
		Review: review.New(w.agenda.Items, w.agenda.Cases, now.Decisions), Run: w.past.Run.ID, Command: w.past.Run.Command,
		Difference: w.difference, Write: w.write, Look: w.readNow,
	}
	if w.past.Run.Command == regress.CheckCommand {
		d.Golden = w.past.Options.Store.Golden
	}
	d.Update(now)
	return d, nil
}

// readNow implements review.Desk.Look.
func (w *reviewedRun) readNow(ctx context.Context) (now review.Now, err error) {
	run, decided, err := w.reread()
	if err != nil {
		return now, err
	}
	if run, err = w.compareAge(ctx, run, &now); err != nil {
		return now, err
	}
	now.Promoted, now.Written = pastrun.AcceptedIn(run.Results), decided
	now.Decisions = review.WithPromoted(w.agenda.Items, w.agenda.Cases, decided, now.Promoted)
	if n := countNotJudged(run); n > 0 {
		now.Notes = append(now.Notes, readable.Cases(n)+" not judged, for the machine failed: muster rerun --failed")
	}
	return now, nil
}

// reread reads what other reviewers may have written since.
func (w *reviewedRun) reread() (*pastrun.Run, map[string]review.State, error) {
	run, err := pastrun.Reopen(w.past.Run)
	if err != nil {
		return nil, nil, err
	}
	decided, err := run.Decisions()
	return run, decided, err
}

// compareAge notes a newer run and a changed golden. It returns the run with marks that agree with
// the golden.
func (w *reviewedRun) compareAge(ctx context.Context, run *pastrun.Run, now *review.Now) (*pastrun.Run, error) {
	newest, err := state.Open(w.past.Options.Store.State).Last(func(r *state.Run) bool { return r.Command == run.Command && r.Finished }, run.Command)
	if err == nil && newest.ID != run.ID {
		now.Notes = append(now.Notes, "there is a newer "+run.Command+", run "+newest.ID)
	}
	if run.Command != regress.CheckCommand {
		now.Shut = "a compare has none"
		now.Notes = append(now.Notes, "run "+run.ID+" was a compare: it has no golden, so decisions are all that is written")
		return run, nil
	}
	if err := w.stores.close(); err != nil { // look at the golden as it is now
		return nil, err
	}
	marked := run
	err = w.stores.use(ctx, func(base, _ *golden.Store) error {
		if err := run.CheckGolden(w.past.Options.Store.Golden, base.Digest(), base.Meta()); err != nil {
			now.Shut = "it has changed, so run muster check again"
			now.Notes = append(now.Notes, "the golden has changed since: run muster check again to accept into it")
			return nil
		}
		marked = compareMarks(run, base)
		return nil
	})
	return marked, err
}

func countNotJudged(run *pastrun.Run) (n int) {
	for i := range run.Results {
		if run.Results[i].Verdict == regress.EnvironmentFailed {
			n++
		}
	}
	return n
}

// difference implements review.Desk.Difference.
func (w *reviewedRun) difference(ctx context.Context, caseName string) (d review.Difference, err error) {
	if r := w.past.Run.Result(caseName); r != nil {
		d.Where = report.EngineWords(r.Engine)
	}
	err = w.stores.use(ctx, func(base, kept *golden.Store) error {
		return describer{w.rules, w.agenda.Found}.describe(&d, caseName, base, kept)
	})
	return d, err
}

// write implements review.Desk.Write. It reads the run again, because others may have decided and
// accepted since.
func (w *reviewedRun) write(ctx context.Context, c review.Changes) (result review.Result, err error) {
	unlock, err := state.Open(w.past.Options.Store.State).Lock()
	if err != nil {
		return result, err
	}
	defer unlock()
	run, theirs, err := w.reread()
	if err != nil {
		return result, err
	}
	result.Now.Promoted = pastrun.AcceptedIn(run.Results)
	result.Now.Written = theirs
	result.Now.Decisions = review.WithPromoted(w.agenda.Items, w.agenda.Cases, theirs, result.Now.Promoted)
	if result.Stale = !maps.Equal(theirs, c.Base); result.Stale {
		return result, nil
	}
	result.Now.Decisions, result.Decided = c.Decide(result.Now.Decisions), len(c.Decisions)
	result.Now.Written = result.Now.Decisions
	e := applyDecisions(w.agenda, theirs, result.Now.Decisions)
	t := transaction{past: w.past.WithRun(run), effect: &e}
	done, err := t.write(ctx)
	if err != nil {
		return result, err
	}
	if err := w.stores.close(); err != nil { // the golden has changed
		return result, err
	}
	result.Now.Promoted = pastrun.AcceptedIn(done.run.Results)
	switch {
	case regress.ClassOf(done.refused) == regress.Input:
		result.Refused = wording.Of(done.refused)
	case done.refused != nil:
		return result, t.undo(done)
	default:
		result.Accepted, result.Notes = len(done.promoted), done.move.texts()
	}
	return result, nil
}

// oldSide returns the side of a case that it is compared with, nil if the store does not have it.
func oldSide(s *golden.Store, caseName string) (*content.Side, error) {
	rec, known, err := s.Get(caseName)
	if err != nil || !known {
		return nil, err
	}
	return &content.Side{Outcome: &rec.Outcome, Open: s.Content}, nil
}

// newSide returns the side of a case that the run kept, nil if it kept none.
func newSide(s *golden.Store, caseName string) (*content.Side, error) {
	is, err := oldSide(s, caseName)
	if err != nil || is == nil {
		return nil, err
	}
	*is = content.KeptSide(is.Outcome, s.Content)
	return is, nil
}

// describer describes the difference of a case, under the rules of the run, with its edits.
type describer struct {
	rules normalize.Rules
	found *cause.Found
}

// describe adds the parts in which a case differs in both stores: the golden, and the outcomes that
// the run kept.
func (b describer) describe(d *review.Difference, caseName string, base, kept *golden.Store) error {
	was, err := oldSide(base, caseName)
	if err != nil {
		return err
	}
	is, err := newSide(kept, caseName)
	if err != nil {
		return err
	}
	return b.compareSides(d, caseName, was, is)
}

// compareSides adds the parts in which both sides differ. A side is nil if its store lacks the case.
func (b describer) compareSides(d *review.Difference, caseName string, was, is *content.Side) error {
	var c outcome.Comparison
	switch {
	case was == nil && is == nil:
		d.Why = "neither the golden nor the run has it"
		return nil
	case was == nil:
		d.Ending = is.Outcome.Ending.String()
		for i := range is.Outcome.Parts {
			if p := &is.Outcome.Parts[i]; p.Form != outcome.Ignored {
				c.Parts = append(c.Parts, outcome.Difference{Key: p.Key, Now: p})
			}
		}
		was = &content.Side{Outcome: &outcome.Outcome{}, Open: is.Open}
	case is == nil:
		for i := range was.Outcome.Parts {
			if p := &was.Outcome.Parts[i]; p.Form != outcome.Ignored {
				c.Parts = append(c.Parts, outcome.Difference{Key: p.Key, Old: p})
			}
		}
		is = &content.Side{Outcome: &outcome.Outcome{}, Open: was.Open}
	default:
		if err := b.compare(d, &c, *was, *is); err != nil {
			return err
		}
	}
	for _, p := range c.Parts {
		part, err := b.describePart(caseName, p, *was, *is)
		if err != nil {
			return err
		}
		d.Parts = append(d.Parts, part)
	}
	return nil
}

// compare finds the parts in which both sides differ. It adds flaky parts only if nothing else
// differs.
func (b describer) compare(d *review.Difference, c *outcome.Comparison, was, is content.Side) (err error) {
	if *c, err = outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(b.rules, was, is)); err != nil {
		return err
	}
	if c.EndingDiffers {
		d.Ending = was.Outcome.Ending.String() + " → " + is.Outcome.Ending.String()
	}
	if !c.Identical() {
		return nil
	}
	if *c, err = outcome.Compare(was.Outcome.Kept(), is.Outcome, nil); err != nil {
		return err
	}
	if c.Identical() {
		d.Why = "the golden has this outcome by now"
	} else {
		d.Why = "flaky: this differs from run to run, and is not compared"
	}
	return nil
}

func (b describer) describePart(caseName string, p outcome.Difference, was, is content.Side) (part review.Part, err error) {
	old, err := analyse.PartWords(was, p.Old)
	if err != nil {
		return part, err
	}
	now, err := analyse.PartWords(is, p.Now)
	if err != nil {
		return part, err
	}
	part = review.Part{Name: name.Print(outcome.PartName(p.Key)), Words: old + " → " + now}
	if part.Old, part.Now, err = content.Texts(b.rules, was, is, p.Old, p.Now); err != nil {
		return part, err
	}
	if m, known := b.found.Member(caseName); known {
		for _, e := range m.Parts {
			if e.Key == p.Key {
				part.Edits = e.Edits
			}
		}
	}
	return part, nil
}
