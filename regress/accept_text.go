package regress

import (
	"fmt"
	"io"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

func flakyAmong(chosen []*state.Result) (n int) {
	for _, r := range chosen {
		if r.Verdict == outcome.Flaky {
			n++
		}
	}
	return n
}

func (p *past) tellAccepted(w io.Writer, a Acceptance, chosen []*state.Result, left map[outcome.Verdict]int) error {
	verb := "accepted"
	if a.DryRun {
		verb = "would accept"
	}
	for _, r := range chosen {
		if _, err := fmt.Fprintf(w, "%s %s (%s)\n", verb, name.Print(string(r.Name)), r.Verdict); err != nil {
			return err
		}
	}
	for _, v := range outcome.Verdicts() {
		if left[v] == 0 {
			continue
		}
		hint := ""
		switch v {
		case outcome.Missing:
			hint = ": --missing drops them"
		case outcome.Environment:
			hint = ": muster rerun --failed judges them"
		default:
			hint = ": --failing takes them"
		}
		if _, err := fmt.Fprintf(w, "left out %d %s%s\n", left[v], v, hint); err != nil {
			return err
		}
	}
	if flaky := flakyAmong(chosen); flaky > 0 {
		if _, err := fmt.Fprintf(w, "%s flaky from now on: what differs from run to run is kept, and not compared\n", counted(flaky)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s %d of run %s\n", verb, len(chosen), p.run.ID)
	return err
}
