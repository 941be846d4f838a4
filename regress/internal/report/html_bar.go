package report

import (
	"muster/internal/readable"
	"muster/regress"
)

// A barPart is the share of one verdict in the bar of all cases, in thousandths.
type barPart struct {
	X, Width     float64
	Class, Words string
}

const barThousand = 1000

// verdictBar returns the cases by verdict, as parts of one bar. A record has no bar.
func verdictBar(s regress.Summary) (parts []barPart) {
	if s.Command == regress.RecordCommand || s.Cases <= 0 {
		return nil
	}
	x := 0.0
	add := func(n int, class, words string) {
		if n <= 0 {
			return
		}
		// a part stays visible, however small it is
		width := max(barThousand*float64(n)/float64(s.Cases), 4)
		parts = append(parts, barPart{x, width, class, readable.Count(n, "case") + " " + words})
		x += width
	}
	for v, n := range s.Verdicts {
		add(n, classOf(regress.Verdict(v)), regress.Verdict(v).String())
	}
	add(s.Unjudged(), "none", "not run")
	if x <= 0 {
		return nil
	}
	for i := range parts {
		parts[i].X *= barThousand / x
		parts[i].Width *= barThousand / x
	}
	return parts
}
