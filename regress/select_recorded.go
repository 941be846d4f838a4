package regress

import (
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/opt"
	"muster/regress/internal/plan"
)

// planBaseline returns the golden's names and selection. For nil it returns the zero Baseline.
func planBaseline(s *opt.Selection, base *golden.Store) (b plan.Baseline, err error) {
	if base == nil {
		return b, nil
	}
	b.Names = slices.AppendSeq(make([]string, 0, base.Len()), base.Names())
	if b.Selected, err = job.PlanRecorded(s.Recorded).Compile(); err != nil {
		return b, fault.Inputf("the selection that the golden was recorded with cannot be used: %w: lift it with --all-cases", err)
	}
	return b, nil
}

// noteRecordedSelection reports that the golden narrows what runs.
func noteRecordedSelection(s *session) {
	s.ledger.Summary.Selection = job.QuoteRecorded(s.job.Select.Recorded)
	if s.ledger.Summary.Selection != "" {
		s.events.Note("selection of the golden: " + s.ledger.Summary.Selection)
	}
}
