package regress

import (
	"context"
	"fmt"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/readable"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Acceptance says what of a check's differences becomes part of the golden.
type Acceptance struct {
	Names   []string // printed names, or IDs of causes: G1
	All     bool     // everything, but see Failing and Missing
	Failing bool     // with All: also what crashed, failed newly or reached a limit
	Missing bool     // with All: also drop what the corpus no longer has
	Globs   []string // only cases that match one; nil = all. Without Names they imply All
	DryRun  bool     // only say what would be done
	Reason  string   // kept in the golden
	Golden  string   // file or address; "" = the golden of the check
	Run     string   // ID of a check, or its beginning; "" = the last
	// KeepCommand leaves the golden's command as it is, even if a check of the run's would be
	// identical from now on.
	KeepCommand bool
}

// reasonMax is the length of the longest reason, in bytes.
const reasonMax = 4096

// complete makes globs alone imply All, and refuses contradictions.
func (a *Acceptance) complete() error {
	a.All = a.All || len(a.Names) == 0 && len(a.Globs) > 0
	if a.All == (len(a.Names) > 0) {
		return fault.Inputf("accept wants the names of cases, causes such as G1, --cases GLOB or --all")
	}
	if n := len(a.Reason); n > reasonMax {
		return fault.Inputf("the reason has %s bytes, more than %s: give a shorter one", readable.Number(n), readable.Number(reasonMax))
	}
	return nil
}

// Accept promotes differences of a past check into the golden, all or nothing,
// and returns how many cases that were.
func Accept(ctx context.Context, o Options, a Acceptance) (count int, err error) {
	if err := a.complete(); err != nil {
		return 0, err
	}
	st := state.Open(o.Store.State)
	unlock, err := st.Lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	p, err := openPastFor(&o, a.Run, a.Golden)
	if err != nil {
		return 0, err
	}
	if p.run.Command != report.CheckCommand {
		return 0, fault.Inputf("run %s was a compare: it has no golden to accept into: run muster check, or name a check with --run", p.run.ID)
	}
	if err := p.run.RequireFinished(true); err != nil {
		return 0, err
	}
	base, err := place.Find(ctx, p.options.Store.Golden, placeOptions(&p.options))
	if err != nil {
		return 0, err
	}
	defer base.Close()
	if err := p.checkGolden(ctx, base); err != nil {
		return 0, err
	}
	n, left, err := p.choose(ctx, a)
	if err != nil {
		return 0, err
	}
	var e effect
	if a.DryRun {
		if e, err = p.settle(n); err == nil {
			e.move, err = p.previewMove(ctx, base, e.promoted, a)
		}
	} else {
		e, err = p.accept(ctx, base, n, a)
	}
	if err != nil {
		return 0, err
	}
	for _, text := range []string{e.move.stays, overruled(&o, &p.options, e.move)} {
		if text != "" {
			fmt.Fprintf(o.Report.Stderr, "warning: %s\n", text)
		}
	}
	if a.Reason != "" && len(e.promoted) == 0 {
		fmt.Fprintf(o.Report.Stderr, "warning: the golden keeps no reason, as no case was accepted: give -m with the accept that completes the cases\n")
	}
	return len(e.promoted), p.tellAccepted(&o.Report, a, e, left)
}

// takes reports whether accepting all includes a result.
func (a *Acceptance) takes(r *state.Result) bool {
	if r.Stopped && !a.Failing {
		return false // whatever else it is: new, or flaky
	}
	switch r.Verdict {
	case outcome.Environment:
		return false
	case outcome.TimedOutNow, outcome.OutOfMemNow, outcome.OutputLimited, outcome.Crashed, outcome.NewlyFailing:
		return a.Failing
	case outcome.Missing:
		return a.Missing
	}
	return true
}

// promoteOne puts one result of a run into the golden. The last accept in its meta is the
// one that does so.
func (w *writing) promoteOne(tx *golden.Tx, found *golden.Store, r *state.Result) error {
	if r.Verdict == outcome.Missing {
		return tx.Delete(string(r.Name))
	}
	rec, known, err := found.Get(string(r.Name))
	if err != nil {
		return err
	}
	if !known {
		return fault.Inputf("run %s did not keep its outcome: run muster check again, then accept", w.past.run.ID)
	}
	old, _, err := tx.Get(rec.Name)
	if err != nil {
		return err
	}
	w.move.ignored.add(&old.Outcome, &rec.Outcome)
	rec.Outcome.KeepFlaky(&old.Outcome)
	rec.Origin, rec.Equal = len(tx.Meta().Accepts), 0
	return tx.Put(rec, found.Content)
}
