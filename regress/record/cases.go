package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
)

// cases is what is known of each case during a record. All slices and maps go by the index of
// the case.
type cases struct {
	lanes  []int          // of the last run
	took   pass.Durations // by that run, before the first one by the golden that is replaced
	due    pass.Durations // expected durations in the present pass, complete
	had    []runsBefore   // nil if the first run of each case is its only one
	failed map[int]error  // cases for which the machine failed
	done   []bool         // cases that have all their runs

	firstEnded []time.Duration // when the first run of a case had ended, after run.Began; 0: before that, or not yet
}

// newCases returns cases without runs. runAgain is true if cases run more than once, or ran before --resume.
func newCases(took pass.Durations, runAgain bool) *cases {
	c := &cases{
		lanes: make([]int, len(took)), took: took, due: took.Complete(),
		failed: map[int]error{}, done: make([]bool, len(took)), firstEnded: make([]time.Duration, len(took)),
	}
	if runAgain {
		c.had = make([]runsBefore, len(took))
	}
	for i := range c.lanes {
		c.lanes[i] = exec.NoLane
	}
	return c
}

// before returns what is known of the runs of a case that is not done.
func (c *cases) before(index int) runsBefore {
	if c.had == nil {
		return runsBefore{}
	}
	return c.had[index]
}

// untilSecond returns how long after run.Began the second runs of these cases may begin: a given
// time after the last of their first runs ended.
func (c *cases) untilSecond(tasks []pass.Task, after time.Duration) (may time.Duration) {
	for _, t := range tasks {
		may = max(may, c.firstEnded[t.Index]+after)
	}
	return may
}

// readRuns reads from the golden how many runs each case has, and returns the cases that have none.
func (c *cases) readRuns(j *job.Job, compare content.Comparer, w *golden.Writer, all []pass.Task) ([]pass.Task, error) {
	var rest []pass.Task
	for _, t := range all {
		rec, known, err := w.Get(t.Entry.Name)
		if err != nil {
			return nil, err
		}
		if !known {
			rest = append(rest, t)
			continue
		}
		had := runsBefore{runs: rec.Runs}
		if had.isWide, err = hasWideHoles(j, compare, w, &rec); err != nil {
			return nil, err
		}
		c.had[t.Index] = had
	}
	return rest, nil
}

// areEnded reports whether every case has all its runs, or the machine failed for it.
func (c *cases) areEnded() bool {
	for i, done := range c.done {
		if !done && c.failed[i] == nil {
			return false
		}
	}
	return true
}

// isKnown reports whether a case has run, or the machine failed for it.
func (c *cases) isKnown(index int) bool {
	return c.done[index] || c.before(index).runs > 0 || c.failed[index] != nil
}

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
