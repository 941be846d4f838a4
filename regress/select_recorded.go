package regress

import (
	"muster/regress/internal/opt"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/plan"
)

func planSelection(s *opt.Selection) plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

func planRecorded(r opt.RecordedSelection) plan.Selection { return plan.Selection(r) }

// quoteRecorded returns the selection as flags; "" when it is everything.
func quoteRecorded(r opt.RecordedSelection) string { return name.QuoteAll(planRecorded(r).Flags()) }

// keptSelection returns the part of the selection that a golden keeps.
func keptSelection(s *opt.Selection) golden.Selection {
	return golden.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

// completeSelection takes over the selection that the golden keeps, unless AllCases lifts it.
func completeSelection(s *opt.Selection, m golden.Meta) {
	s.Recorded = opt.RecordedSelection{}
	if !s.AllCases {
		s.Recorded = opt.RecordedSelection{Globs: m.Selection.Globs, Filters: m.Selection.Filters, Partition: m.Selection.Partition, Sample: m.Selection.Sample}
	}
}

// planBaseline returns the golden's names and selection. For nil it returns the zero Baseline.
func planBaseline(s *opt.Selection, base *golden.Store) (b plan.Baseline, err error) {
	if base == nil {
		return b, nil
	}
	b.Names = slices.AppendSeq(make([]string, 0, base.Len()), base.Names())
	if b.Selected, err = planRecorded(s.Recorded).Compile(); err != nil {
		return b, fault.Inputf("the selection that the golden was recorded with cannot be used: %w: lift it with --all-cases", err)
	}
	return b, nil
}

// noteRecordedSelection reports that the golden narrows what runs.
func noteRecordedSelection(s *session) {
	s.ledger.Summary.Selection = quoteRecorded(s.o.Select.Recorded)
	if s.ledger.Summary.Selection != "" {
		s.events.Note("selection of the golden: " + s.ledger.Summary.Selection)
	}
}
