package decide

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"time"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
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
