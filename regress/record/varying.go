package record

import (
	"fmt"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// exampleMax is the size of the largest part that an example is taken from, in bytes.
const exampleMax = 1 << 20

// example shows in what two runs of a case differ: the first line of each that does. It
// returns "" if no part of text shows it.
func (r *recording) example(rec *golden.Record, now *exec.Result) (string, error) {
	for i := range rec.Outcome.Parts {
		was := &rec.Outcome.Parts[i]
		is, both := now.Outcome.Part(was.Key)
		if !both || was.Flaky || was.Digest == is.Digest || max(was.Size, is.Size) > exampleMax {
			continue
		}
		old, err := content.Shown(r.run.Job.Rules, keep.ContentsIn(r.writer), was)
		if err != nil {
			return "", err
		}
		text, err := content.Shown(r.run.Job.Rules, now.Open, &is)
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

// warnVarying warns if most cases vary from run to run: most output would not be compared.
func (r *recording) warnVarying() {
	n := r.run.Ledger.Summary.Verdicts[outcome.Flaky]
	if 2*n <= len(r.run.Inputs.Cases) {
		return
	}
	text := fmt.Sprintf("%d of %s vary from run to run, and what varies is not compared", n, readable.Cases(len(r.run.Inputs.Cases)))
	if r.varies != "" {
		text += ", such as " + r.varies
	}
	r.run.Events.Warn(text + "; --normalize rewrites what may vary, such as times and addresses, and --ignore leaves out a part, such as a cache")
}
