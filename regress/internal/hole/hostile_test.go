package hole

import (
	"testing"

	"muster/regress/internal/diff"
)

// A tool may print the marks that muster prints.
func TestTextOfAMark(t *testing.T) {
	for _, runs := range [][][]string{
		{{"x ⟨number⟩\n"}, {"x 5\n"}},
		{{"x ⟨number⟩ y\n", "x 5 y\n"}, {"x 6 y\n", "x 7 y\n"}},
		{{"x 5\n", "x ⟨number⟩\n"}, {"x ⟨number⟩\n", "x 6\n"}},
	} {
		p := patternOf(runs)
		for _, run := range runs {
			if !p.Fits(around(run...)) {
				t.Errorf("%q does not fit", run)
			}
			p.Fill(around(run...))
		}
	}
}

// A change in every other line of millions: whatever is done for each line must not visit all changes.
func TestManyChanges(t *testing.T) {
	const many = 2_000_000
	var o other
	for i := range many {
		o.changes = append(o.changes, diff.Change{OldFrom: 2 * i, OldTo: 2*i + 1, NowFrom: 3 * i, NowTo: 3*i + 2})
	}
	for i := range many {
		line := 2 * i
		if from, to := o.startOf(line), o.endOf(line+1); from != 3*i || to != 3*i+2 {
			t.Fatalf("line %d is in [%d, %d)", line, from, to)
		}
		if from, to := o.around(line, line+1); from != 3*i || to != 3*i+2 {
			t.Fatalf("around line %d is [%d, %d)", line, from, to)
		}
		if o.within(line) {
			t.Fatalf("line %d is within a change", line)
		}
		if _, fits := o.patchPartly(&element{from: line}, 0); fits {
			t.Fatalf("line %d has a partner", line)
		}
	}
}
