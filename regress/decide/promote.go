package decide

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// promotion puts outcomes of a run into a golden.
type promotion struct {
	past        *pastrun.Past // with the marks that its results have then
	promoted    []*state.Result
	found       *golden.Store // has the outcomes; nil if the run kept none
	reason      string
	keepCommand bool

	move commandMove // set by put
}

// haveOutcomes reports whether the corpus has one of the cases.
func haveOutcomes(promoted []*state.Result) bool {
	return slices.ContainsFunc(promoted, func(r *state.Result) bool { return r.Verdict != regress.Missing })
}

// put changes a golden: its meta, its command if it can move, and the outcomes.
func (p *promotion) put(tx *golden.Tx) error {
	p.move = commandMove{}
	m, err := p.signMeta(tx)
	if err != nil {
		return err
	}
	if p.found != nil {
		if p.move, err = moveCommand(p.past, &m, p.found.Meta(), tx.Names(), p.keepCommand); err != nil {
			return err
		}
	}
	if err := tx.SetMeta(m); err != nil {
		return err
	}
	for _, r := range p.promoted {
		if err := p.putOutcome(tx, r); err != nil {
			return fmt.Errorf("accept %s: %w", name.Print(string(r.Name)), err)
		}
	}
	return nil
}

// signMeta returns the golden's meta with a note of this accept: who accepts, why, and which state
// of the golden the accepts of this run change.
func (p *promotion) signMeta(tx *golden.Tx) (golden.Meta, error) {
	m, run := tx.Meta(), p.past.Run
	if err := run.CheckGolden(p.past.Options.Store.Golden, tx.Digest(), m); err != nil {
		return m, err // somebody was faster
	}
	if tx.Digest().String() == run.State.Golden {
		m.AcceptBase = tx.Digest()
	}
	m.AcceptedRun = run.ID
	m.FromEngine = m.FromEngine || p.found != nil && p.found.Meta().OnEngine() && haveOutcomes(p.promoted)
	m.Accepts = append(m.Accepts, sign(p.past, p.reason))
	return m, nil
}

// putOutcome puts one result into the golden. The last accept in its meta is the one that does so.
func (p *promotion) putOutcome(tx *golden.Tx, r *state.Result) error {
	if r.Verdict == regress.Missing {
		return tx.Delete(string(r.Name))
	}
	rec, known, err := p.found.Get(string(r.Name))
	if err != nil {
		return err
	}
	if !known {
		return fault.Inputf("run %s did not keep its outcome: run muster check again, then accept", p.past.Run.ID)
	}
	old, _, err := tx.Get(rec.Name)
	if err != nil {
		return err
	}
	p.move.ignored.add(&old.Outcome, &rec.Outcome)
	rec.Outcome.KeepFlaky(&old.Outcome)
	open, err := content.KeepHoles(&rec.Outcome, p.found.Content, content.Side{Outcome: &old.Outcome, Open: tx.Content})
	if err != nil {
		return err
	}
	rec.Origin, rec.Equal = len(tx.Meta().Accepts), 0
	return tx.Put(rec, golden.Content(open))
}

// sign returns the note of an accept of the run.
func sign(p *pastrun.Past, reason string) golden.Accept {
	return golden.Accept{
		Run: p.Run.ID, Author: author(), At: time.Now(), Reason: reason, Command: job.Commands(&p.Options.Command),
		Machine: golden.Machine(), MusterVersion: p.Options.Version, Flags: job.OutcomeFlags(&p.Options),
	}
}

// author returns the user and the machine, as USER@HOST.
func author() string {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		return who
	}
	return who + "@" + host
}

// recallMarks returns the run with marks that agree with the golden at a place. It refuses a golden
// that this run cannot be accepted into.
func recallMarks(ctx context.Context, p *pastrun.Past, at place.Place) (*pastrun.Past, error) {
	base, err := at.Open(ctx)
	if err != nil {
		return nil, place.ExplainMissing(p.Options.Store.Golden, err)
	}
	defer base.Close()
	if err := p.Run.CheckGolden(p.Options.Store.Golden, base.Digest(), base.Meta()); err != nil {
		return nil, err
	}
	return p.WithRun(compareMarks(p.Run, base)), nil
}

// compareMarks removes the marks of accepted results that the golden lacks: somebody restored an
// earlier state of it. If accepts of this run changed the golden, compareMarks also adds missing
// marks, because a kill after the golden is written can lose them.
func compareMarks(run *pastrun.Run, base *golden.Store) *pastrun.Run {
	isOurs := base.Meta().AcceptedRun == run.ID
	marks := run.Marks()
	for i := range run.Results {
		if r := &run.Results[i]; r.Accepted || isOurs && r.Verdict != regress.EnvironmentFailed {
			marks[i] = hasAccepted(base, run.ID, r)
		}
	}
	return run.WithMarks(marks)
}

// hasAccepted reports whether an accept of the run put a result into the golden, or, for a missing case, whether the
// golden lacks it. It compares no digests, because those of two outcomes that differ only in a flaky part are equal.
func hasAccepted(base *golden.Store, runID string, r *state.Result) bool {
	caseName := string(r.Name)
	if r.Verdict == regress.Missing {
		_, known := base.OutcomeDigest(caseName)
		return !known
	}
	origin := base.Origin(caseName)
	return origin > 0 && base.Meta().Accepts[origin-1].Run == runID
}

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
	e.decisions = decided.Changes().Decide(written)
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
