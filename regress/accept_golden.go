package regress

import (
	"context"
	"os"
	"os/user"
	"slices"
	"time"

	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// checkGolden refuses a golden that this run cannot be accepted into. It recalls accepts
// that the golden lacks, because somebody restored an earlier state of it.
func (p *past) checkGolden(ctx context.Context, at place.Place) error {
	base, err := at.Open(ctx)
	if err != nil {
		return place.ExplainMissing(p.options.Store.Golden, err)
	}
	defer base.Close()
	if err := p.run.CheckGolden(p.options.Store.Golden, base.Digest(), base.Meta()); err != nil {
		return err
	}
	return p.recall(base)
}

// recall removes the marks of accepted results that the golden lacks. If accepts of this run
// changed the golden, recall also adds missing marks: a kill after the golden is written
// can lose them.
func (p *past) recall(base *golden.Store) error {
	ours := base.Meta().AcceptedRun == p.run.ID
	if !slices.ContainsFunc(p.run.Results, func(r state.Result) bool { return r.Accepted || ours }) {
		return nil
	}
	found, err := p.run.OpenOutcomes()
	if err != nil {
		return err
	}
	defer found.Close()
	for i := range p.run.Results {
		if r := &p.run.Results[i]; r.Accepted || ours && r.Verdict != outcome.Environment {
			if r.Accepted, err = holds(base, found, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports whether the golden has what accepting a result puts into it.
func holds(base, found *golden.Store, r *state.Result) (bool, error) {
	is, known, err := base.Get(string(r.Name))
	if err != nil || r.Verdict == outcome.Missing || !known {
		return !known && r.Verdict == outcome.Missing, err
	}
	rec, kept, err := found.Get(string(r.Name))
	if err != nil || !kept {
		return false, err
	}
	rec.Outcome.KeepFlaky(&is.Outcome)
	return rec.Outcome.Digest() == is.Outcome.Digest(), nil
}

// signed returns the golden's meta with a note of this accept: which state of the golden
// accepts of this run change, who accepts and why. engine reports that an engine made some of
// the accepted outcomes.
func (p *past) signed(tx *golden.Tx, engine bool, reason string) (golden.Meta, error) {
	m := tx.Meta()
	if err := p.run.CheckGolden(p.options.Store.Golden, tx.Digest(), m); err != nil {
		return m, err // somebody was faster
	}
	if tx.Digest().String() == p.run.State.Golden {
		m.AcceptBase = tx.Digest()
	}
	m.AcceptedRun = p.run.ID
	m.FromEngine = m.FromEngine || engine
	m.Accepts = append(m.Accepts, p.signature(reason))
	return m, nil
}

// signature returns the note of an accept of the run.
func (p *past) signature(reason string) golden.Accept {
	return golden.Accept{
		Run: p.run.ID, Author: author(), At: time.Now(), Reason: reason, Command: commandsIn(&p.options.Command),
		Machine: machine(), MusterVersion: p.options.Version, Flags: outcomeFlags(&p.options),
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
