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
	recorded, err := planBaseline(&s.o.Select, base)
	if err != nil {
		return err
	}
	err = s.in.Choose(run.Selection{
		Chooser: s.chooser, Baseline: recorded, Only: s.o.Select.Only,
		Given: job.PlanSelection(&s.o.Select), Recorded: job.PlanRecorded(s.o.Select.Recorded),
	})
	s.ledger.Summary.NotSampled = s.in.NotSampled
	if err == nil && len(s.in.Cases) == 0 && s.name != report.CheckCommand {
		err = s.in.NoneSelected()
	}
	return err
}
