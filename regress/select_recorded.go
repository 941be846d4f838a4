package regress

import (
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/plan"
)

func (s *Selection) plan() plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

func (r RecordedSelection) plan() plan.Selection { return plan.Selection(r) }

// line returns the selection as flags; "" when it is everything.
func (r RecordedSelection) line() string { return name.QuoteAll(r.plan().Flags()) }

// kept returns what a golden keeps of the selection that it is recorded with.
func (s *Selection) kept() golden.Selection {
	return golden.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

// asRecorded takes over the selection that the golden keeps, unless AllCases lifts it.
func (s *Selection) asRecorded(m golden.Meta) {
	s.Recorded = RecordedSelection{}
	if !s.AllCases {
		s.Recorded = RecordedSelection{m.Selection.Globs, m.Selection.Filters, m.Selection.Partition, m.Selection.Sample}
	}
}

// baseline returns the golden's names and selection. For nil it returns the zero Baseline.
func (s *Selection) baseline(base *golden.Store) (b plan.Baseline, err error) {
	if base == nil {
		return b, nil
	}
	b.Names = slices.AppendSeq(make([]string, 0, base.Len()), base.Names())
	if b.Selected, err = s.Recorded.plan().Compile(); err != nil {
		return b, fault.Inputf("the selection that the golden was recorded with cannot be used: %w: lift it with --all-cases", err)
	}
	return b, nil
}

// noteRecordedSelection reports that the golden narrows what runs.
func (s *session) noteRecordedSelection() {
	s.summary.Selection = s.o.Select.Recorded.line()
	if s.summary.Selection != "" {
		s.events.Note("selection of the golden: " + s.summary.Selection)
	}
}
