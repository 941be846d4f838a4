package regress

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// flakyAmong counts the results with parts that are no longer compared once they are accepted.
func flakyAmong(chosen []*state.Result) (n int) {
	for _, r := range chosen {
		if r.Verdict == outcome.Flaky || r.Unstable {
			n++
		}
	}
	return n
}

func (p *past) tellAccepted(w io.Writer, a Acceptance, e effect, left map[outcome.Verdict]int) error {
	verb := "accepted"
	if a.DryRun {
		verb = "would accept"
	}
	for _, r := range e.promoted {
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
		if _, err := fmt.Fprintf(w, "left out %s %s%s\n", readable.Number(left[v]), v, hint); err != nil {
			return err
		}
	}
	if flaky := flakyAmong(e.promoted); flaky > 0 {
		if _, err := fmt.Fprintf(w, "%s flaky from now on: what differs from run to run is kept, and not compared\n", counted(flaky)); err != nil {
			return err
		}
	}
	if err := e.tellWaiting(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s %s of run %s\n", verb, readable.Number(len(e.promoted)), p.run.ID)
	return err
}

// tellWaiting says which cases are not promoted yet, and for which causes they wait.
func (e *effect) tellWaiting(w io.Writer) error {
	if e.waits == 0 {
		return nil
	}
	var others []string
	for _, id := range slices.SortedFunc(maps.Keys(e.waiting), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.waiting[b], e.waiting[a]), review.ByID(a, b))
	}) {
		others = append(others, fmt.Sprintf("%s (%s)", id, readable.Number(e.waiting[id])))
	}
	const shown = 10
	if more := len(others) - shown; more > 0 {
		others = append(others[:shown], fmt.Sprintf("%d more", more))
	}
	_, err := fmt.Fprintf(w, "%s for other causes: %s\n", countedDo(e.waits, "wait"), strings.Join(others, ", "))
	return err
}
