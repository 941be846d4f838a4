package job

import (
	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/plan"
)

func PlanSelection(s *regress.Selection) plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

func PlanRecorded(r regress.RecordedSelection) plan.Selection { return plan.Selection(r) }

// QuoteRecorded returns the selection as flags; "" when it is everything.
func QuoteRecorded(r regress.RecordedSelection) string { return name.QuoteAll(PlanRecorded(r).Flags()) }

// KeptSelection returns the part of the selection that a golden keeps.
func KeptSelection(s *regress.Selection) golden.Selection {
	return golden.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

// takeSelection takes over the selection that the golden keeps, unless AllCases lifts it.
func takeSelection(s *regress.Selection, m golden.Meta) {
	s.Recorded = regress.RecordedSelection{}
	if !s.AllCases {
		s.Recorded = regress.RecordedSelection{Globs: m.Selection.Globs, Filters: m.Selection.Filters, Partition: m.Selection.Partition, Sample: m.Selection.Sample}
	}
}
