package decide

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/review"
	"muster/regress/internal/state"
)

// warnAccepted warns of a command that stays or that a plain check does not run, and of a lost reason.
func warnAccepted(o *regress.Options, h host.Host, p *pastrun.Past, a *AcceptOptions, w *writeResult) {
	texts := []string{w.move.stays, warnOverruled(o, &p.Options, w.move)}
	if a.Reason != "" && len(w.promoted) == 0 {
		texts = append(texts, "the golden keeps no reason, as no case was accepted: give -m with the accept that completes the cases")
	}
	for _, text := range texts {
		if text != "" {
			fmt.Fprintf(h.Stderr, "warning: %s\n", text)
		}
	}
}

// printAccepted prints how many cases were accepted. If rep is not quiet, it also prints which
// cases were not accepted. If rep is verbose, it prints the name of every accepted case.
func printAccepted(to io.Writer, rep *regress.Report, a *AcceptOptions, s *selection, e *effect, done *writeResult) error {
	verb, has, w := "accepted", "now has", &strings.Builder{}
	if a.DryRun {
		verb, has = "would accept", "would have"
	}
	if rep.Verbose {
		for _, r := range done.promoted {
			fmt.Fprintf(w, "%s %s (%s)\n", verb, name.Print(string(r.Name)), r.Verdict)
		}
	}
	if !rep.Quiet {
		writeLeft(w, s.left)
		writeFamilies(w, s)
		if flaky := countFlaky(done.promoted); flaky > 0 {
			fmt.Fprintf(w, "%s flaky from now on: what differs from run to run is kept, and not compared, except files with new names: --ignore leaves these out\n", readable.Cases(flaky))
		}
		if text := done.move.ignored.text(); text != "" {
			fmt.Fprintln(w, text)
		}
		writeWaiting(w, e)
	}
	fmt.Fprintf(w, "%s %s of run %s%s\n", verb, readable.Number(len(done.promoted)), done.run.ID, cmp.Or(countVerdicts(done.promoted), noneLeft(done.run)))
	if text := done.move.moved; text != "" && !rep.Quiet {
		fmt.Fprintf(w, "the golden %s %s\n", has, text)
	}
	_, err := io.WriteString(to, w.String())
	return err
}

// noneLeft says that all differences of the run are in the golden, "" if some are not.
func noneLeft(run *pastrun.Run) string {
	if slices.ContainsFunc(run.Results, func(r state.Result) bool { return !r.Accepted }) {
		return ""
	}
	return ", nothing is left to accept"
}

// writeLeft writes how many cases --all leaves out, and how to accept them.
func writeLeft(w io.Writer, left map[regress.Verdict]int) {
	for _, v := range regress.AllVerdicts() {
		if left[v] == 0 {
			continue
		}
		hint := "--failing takes them"
		switch v {
		case regress.Missing:
			hint = "--missing drops them"
		case regress.EnvironmentFailed:
			hint = "muster rerun --failed judges them"
		}
		fmt.Fprintf(w, "left out %s %s: %s\n", readable.Number(left[v]), v, hint)
	}
}

// writeFamilies writes which causes --family selects, and which buckets it leaves out.
func writeFamilies(w io.Writer, s *selection) {
	for _, c := range s.members {
		fmt.Fprintf(w, "%-4s %s\n", c.ID, c.Name)
	}
	if len(s.buckets) > 0 {
		fmt.Fprintf(w, "left out %s, of rare causes that were folded: --bucket accepts them too\n", readable.Count(len(s.buckets), "bucket"))
	}
}

// countFlaky counts the results with parts that are no longer compared once they are accepted.
func countFlaky(chosen []*state.Result) (n int) {
	for _, r := range chosen {
		if r.Verdict == regress.Flaky || r.Unstable {
			n++
		}
	}
	return n
}

// countVerdicts counts results by verdict: ": 2 changed, 1 new". It returns "" for no results.
func countVerdicts(chosen []*state.Result) string {
	counts := map[regress.Verdict]int{}
	for _, r := range chosen {
		counts[r.Verdict]++
	}
	var words []string
	for _, v := range regress.AllVerdicts() {
		if counts[v] > 0 {
			words = append(words, fmt.Sprintf("%s %s", readable.Number(counts[v]), v))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ": " + strings.Join(words, ", ")
}

// writeWaiting writes how many selected cases are not promoted yet, and which causes they wait for.
func writeWaiting(w io.Writer, e *effect) {
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
