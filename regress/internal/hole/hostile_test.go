package hole

import "testing"

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
