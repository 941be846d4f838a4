package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/run"
)

// exampleMax is the size of the largest part that an example is taken from, in bytes.
const exampleMax = 1 << 20

// variation is how the runs of cases differ from each other.
type variation struct {
	example string      // of two runs that differ; "" for none
	found   atomic.Bool // an example is known, or will be

	rules map[string]bool // of --normalize, that make holes go away
	asked int             // flaky cases that were searched for rules
}

// suggestFrom is the number of flaky cases that are searched for rules. All cases of a tool vary in
// few ways.
const suggestFrom = 100

// suggest adds the rules that make holes of a case go away. One goroutine at a time calls it.
func (v *variation) suggest(rules normalize.Rules, s content.Side) error {
	if !s.Outcome.Flaky() || v.asked == suggestFrom {
		return nil
	}
	v.asked++
	if v.rules == nil {
		v.rules = map[string]bool{}
	}
	return content.Suggest(rules, s, v.rules)
}

// note prints the rules.
func (v *variation) note(s *run.Run) {
	text := ""
	for _, rule := range slices.Sorted(maps.Keys(v.rules)) {
		text += " --normalize '" + rule + "'"
	}
	if text != "" {
		s.Events.Note("to have these lines compared in full, record again with" + text)
	}
}

// find looks for a case whose run differs from an earlier one, unless it has an example
// already.
func (v *variation) find(w *golden.Writer, rules normalize.Rules, rec *golden.Record, now *exec.Result) (string, error) {
	if !v.found.CompareAndSwap(false, true) {
		return "", nil
	}
	text, err := example(w, rules, rec, now)
	v.found.Store(text != "")
	return text, err
}

// example shows in what two runs of a case differ: the first line of each that does. It
// returns "" if no part of text shows it.
func example(w *golden.Writer, rules normalize.Rules, rec *golden.Record, now *exec.Result) (string, error) {
	for i := range rec.Outcome.Parts {
		was := &rec.Outcome.Parts[i]
		is, both := now.Outcome.Part(was.Key)
		if !both || was.Flaky || was.Digest == is.Digest || max(was.Size, is.Size) > exampleMax {
			continue
		}
		old, err := content.Shown(rules, keep.ContentsIn(w), was)
		if err != nil {
			return "", err
		}
		text, err := content.Shown(rules, now.Open, &is)
		if err != nil {
			return "", err
		}
		lines, _, _ := diff.Unified(old, text, diff.Limits{Columns: 160, Context: 1})
		if a, b := firstWith(lines, '-'), firstWith(lines, '+'); a != "" && b != "" {
			return fmt.Sprintf("%s, %s: %s → %s", name.Print(rec.Name), outcome.PartName(was.Key), strings.TrimSpace(a), strings.TrimSpace(b)), nil
		}
	}
	return "", nil
}

// firstWith returns the first line of a diff that has the sign, without it.
func firstWith(text string, sign byte) string {
	for line := range strings.Lines(text) {
		if line[0] == sign {
			return line[1:]
		}
	}
	return ""
}

// warn warns if most cases vary from run to run: most output would not be compared.
func (v *variation) warn(s *run.Run) {
	n := s.Ledger.Summary.Verdicts[regress.Flaky]
	if 2*n <= len(s.Inputs.Cases) {
		return
	}
	text := fmt.Sprintf("%s of %s vary from run to run, and what varies is not compared", readable.Number(n), readable.Cases(len(s.Inputs.Cases)))
	if v.example != "" {
		text += ", such as " + v.example
	}
	s.Events.Warn(text + "; --normalize rewrites what may vary, such as times and addresses, and --ignore leaves out a part, such as a cache")
}
