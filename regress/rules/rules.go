// Package rules works on the rules of accepted causes: List prints those of a golden, Revoke removes one, and Scan
// reads what a check had no time to read for the rules of its causes.
//
// Input: the golden that Options.Store.Golden names, or the ID of a past check. Output: a text or JSON on the standard
// output of the host; Revoke changes the golden, and Scan the causes of the run. Error texts say what to do;
// regress.ClassOf returns the class of an error.
//
// The package must not run cases, nor accept outcomes.
package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// ruleLine is a rule for scripts. They rely on the keys and their order.
type ruleLine struct {
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Cause     string    `json:"cause"`
	Signature string    `json:"signature"`
	Author    string    `json:"author"`
	At        time.Time `json:"at"`
	Run       string    `json:"run"`
	Reason    string    `json:"reason"`
	Older     int       `json:"older"`  // outcomes of the golden that the rule is about
	Usable    bool      `json:"usable"` // this muster can apply it
}

// List prints the rules of the golden.
func List(ctx context.Context, o regress.Options, h host.Host) (err error) {
	base, err := place.Open(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	m := base.Meta()
	if len(m.Rules) == 0 && o.Report.Format != regress.JSON {
		_, err := fmt.Fprintf(h.Stdout, "golden %s has no rules: muster accept keeps the rule of a cause that is uniform\n", o.Store.Golden)
		return err
	}
	for _, r := range m.Rules {
		line := ruleLine{
			"rule", r.ID(), readable.Line(r.Cause), readable.Line(r.Signature), readable.Line(r.Author), r.At.UTC(), readable.Line(r.Run), readable.Line(r.Reason),
			countOlder(base.Store, m, r), analyse.IsUsable(r),
		}
		if o.Report.Format == regress.JSON {
			err = report.EncodeLine(h.Stdout, line)
		} else {
			_, err = io.WriteString(h.Stdout, line.text())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countOlder counts the outcomes that a rule is about.
func countOlder(base *golden.Store, m golden.Meta, r golden.Rule) (n int) {
	for caseName := range base.Names() {
		if r.Covers(m.Since(base.Origin(caseName))) {
			n++
		}
	}
	return n
}

func (l ruleLine) text() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%-4s %s\n     accepted %s by %s, run %s", l.ID, l.Cause, l.At.Format("2006-01-02 15:04:05 UTC"), l.Author, l.Run)
	if l.Reason != "" {
		fmt.Fprintf(w, ": %s", l.Reason)
	}
	if l.Usable {
		fmt.Fprintf(w, "\n     applies to %s of the golden\n", readable.Count(l.Older, "older outcome"))
	} else {
		fmt.Fprintf(w, "\n     not applied, as another version of muster made it: revoke it, and accept the cause of a new check\n")
	}
	return w.String()
}

// Revoke removes the rule of that ID from the golden.
func Revoke(ctx context.Context, o regress.Options, h host.Host, id string) error {
	unlock, err := state.Open(o.Store.State).Lock()
	if err != nil {
		return err
	}
	defer unlock()
	at, err := place.Find(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return err
	}
	defer at.Close()
	var revoked golden.Rule
	err = at.Update(ctx, func(tx *golden.Tx) error {
		m := tx.Meta()
		var known bool
		if revoked, known = m.Revoke(id); !known {
			return fault.Inputf("golden %s has no rule %s: muster rules lists them", o.Store.Golden, name.Quote(id))
		}
		// Runs until now may have marks of the rule, so nothing of them can be accepted any more.
		m.AcceptedRun, m.AcceptBase = "", outcome.Digest{}
		return tx.SetMeta(m)
	})
	if err != nil && !errors.Is(err, golden.ErrUnflushed) {
		return place.ExplainMissing(o.Store.Golden, err)
	}
	_, printed := fmt.Fprintf(h.Stdout, "revoked %s, the rule of %s: outcomes that were accepted stay, and muster check judges without it\n", id, readable.Line(revoked.Cause))
	return errors.Join(err, printed)
}
