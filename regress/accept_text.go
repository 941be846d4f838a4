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

// tellAccepted prints how many cases were accepted, and unless rep is quiet also what was
// not. If rep is verbose, tellAccepted prints the name of every accepted case.
func (p *past) tellAccepted(rep *Report, a Acceptance, e effect, left map[outcome.Verdict]int) error {
	verb, has, w := "accepted", "now has", &strings.Builder{}
	if a.DryRun {
		verb, has = "would accept", "would have"
	}
	if rep.Verbose {
		for _, r := range e.promoted {
			fmt.Fprintf(w, "%s %s (%s)\n", verb, name.Print(string(r.Name)), r.Verdict)
		}
	}
	if !rep.Quiet {
		tellLeft(w, left)
		if flaky := flakyAmong(e.promoted); flaky > 0 {
			fmt.Fprintf(w, "%s flaky from now on: what differs from run to run is kept, and not compared\n", readable.Cases(flaky))
		}
		if text := e.move.ignored.text(); text != "" {
			fmt.Fprintln(w, text)
		}
		e.tellWaiting(w)
	}
	fmt.Fprintf(w, "%s %s of run %s%s\n", verb, readable.Number(len(e.promoted)), p.run.ID, cmp.Or(verdictsOf(e.promoted), p.noneLeft()))
	if text := e.move.moved; text != "" && !rep.Quiet {
		fmt.Fprintf(w, "the golden %s %s\n", has, text)
	}
	_, err := io.WriteString(rep.Stdout, w.String())
	return err
}

// noneLeft says that all differences of the run are in the golden, "" if some are not.
func (p *past) noneLeft() string {
	if slices.ContainsFunc(p.run.Results, func(r state.Result) bool { return !r.Accepted }) {
		return ""
	}
	return ", nothing is left to accept"
}

// tellLeft prints how many cases --all leaves out, and how to accept them.
func tellLeft(w io.Writer, left map[outcome.Verdict]int) {
	for _, v := range outcome.Verdicts() {
		if left[v] == 0 {
			continue
		}
		hint := "--failing takes them"
		switch v {
		case outcome.Missing:
			hint = "--missing drops them"
		case outcome.Environment:
			hint = "muster rerun --failed judges them"
		}
		fmt.Fprintf(w, "left out %s %s: %s\n", readable.Number(left[v]), v, hint)
	}
}

// flakyAmong counts the results with parts that are no longer compared once they are accepted.
func flakyAmong(chosen []*state.Result) (n int) {
	for _, r := range chosen {
		if r.Verdict == outcome.Flaky || r.Unstable {
			n++
		}
	}
	return n
}

// verdictsOf counts results by verdict: ": 2 changed, 1 new". It returns "" for no results.
func verdictsOf(chosen []*state.Result) string {
	counts := map[outcome.Verdict]int{}
	for _, r := range chosen {
		counts[r.Verdict]++
	}
	var words []string
	for _, v := range outcome.Verdicts() {
		if counts[v] > 0 {
			words = append(words, fmt.Sprintf("%s %s", readable.Number(counts[v]), v))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}

// tellWaiting says which cases are not promoted yet, and for which causes they wait.
func (e *effect) tellWaiting(w io.Writer) {
	if e.waits == 0 {
		return
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
	fmt.Fprintf(w, "%s for other causes: %s\n", readable.CasesDo(e.waits, "wait"), strings.Join(others, ", "))
}
