package regress

import (
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// chooseCases selects the cases. If the golden is not nil, it also lists the golden's selected
// cases that the corpus lacks. Only a check may select none: the cases that it lacks count, too.
func chooseCases(s *session, base *golden.Store) error {
	recorded, err := planBaseline(&s.job.Select, base)
	if err != nil {
		return err
	}
	err = s.in.Choose(run.Selection{
		Chooser: s.job.Chooser, Baseline: recorded, Only: s.job.Select.Only,
		Given: job.PlanSelection(&s.job.Select), Recorded: job.PlanRecorded(s.job.Select.Recorded),
	})
	s.ledger.Summary.NotSampled = s.in.NotSampled
	if err == nil && len(s.in.Cases) == 0 && s.job.Name != report.CheckCommand {
		err = s.in.NoneSelected()
	}
	return err
}
