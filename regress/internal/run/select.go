package run

import (
	"slices"

	"muster/internal/wording"
	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/pass"
	"muster/regress/internal/plan"
	"muster/regress/internal/state"
)

// noteRecordedSelection reports that the golden narrows what runs.
func noteRecordedSelection(r *Run) {
	r.Ledger.Summary.Selection = job.QuoteRecorded(r.Job.Select.Recorded)
	if r.Ledger.Summary.Selection != "" {
		r.Events.Note("selection of the golden: " + r.Ledger.Summary.Selection)
	}
}

// resumeOnly restricts a resumed run to the cases of the interrupted run. No flag repeats the
// restriction of rerun --failed.
func resumeOnly(r *Run) error {
	if !r.Job.Store.Resume {
		return nil
	}
	last, err := r.State.Unfinished(r.Job.Name)
	if err != nil || last == nil {
		return err
	}
	o, err := job.Decode(last)
	if err == nil {
		r.Job = r.Job.Only(o.Select.Only)
	}
	return err
}

// chooseCases selects the cases. If the golden is not nil, it also lists the golden's selected
// cases that the corpus lacks. Only a check may select none: the cases that it lacks count, too.
func chooseCases(r *Run, base *golden.Store) error {
	recorded, err := planBaseline(&r.Job.Select, base)
	if err != nil {
		return err
	}
	err = r.Inputs.Choose(Selection{
		Chooser: r.Job.Chooser, Baseline: recorded, Only: r.Job.Select.Only,
		Given: job.PlanSelection(&r.Job.Select), Recorded: job.PlanRecorded(r.Job.Select.Recorded),
	})
	r.Ledger.Summary.NotSampled = r.Inputs.NotSampled
	if err == nil && len(r.Inputs.Cases) == 0 && r.Job.Name != regress.CheckCommand {
		err = r.Inputs.NoneSelected()
	}
	return err
}

// planBaseline returns the golden's names and selection. For nil it returns the zero Baseline.
func planBaseline(s *regress.Selection, base *golden.Store) (b plan.Baseline, err error) {
	if base == nil {
		return b, nil
	}
	b.Names = slices.AppendSeq(make([]string, 0, base.Len()), base.Names())
	if b.Selected, err = job.PlanRecorded(s.Recorded).Compile(); err != nil {
		return b, fault.Inputf("the selection that the golden was recorded with cannot be used: %w: lift it with --all-cases", err)
	}
	return b, nil
}

// OrderTasks returns the tasks in the order in which they run.
func (r *Run) OrderTasks(took pass.Durations) []pass.Task {
	var failed map[string]bool
	if r.Job.Select.FailedFirst {
		var err error
		if failed, err = lastNotIdentical(r.State, r.Folder); err != nil {
			r.Events.Warn("--failed-first: " + wording.Of(err))
		}
	}
	if r.Width().Goroutines <= 1 {
		took = nil // nobody waits for the last case
	}
	return r.Inputs.orderTasks(failed, took)
}

// lastNotIdentical returns the names of the cases that were not identical in the last check or
// compare, except that of the present run. It returns nil if there was none.
func lastNotIdentical(s *state.State, present *state.Run) (map[string]bool, error) {
	runs, err := s.Runs()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(runs) {
		if state.IsCheck(r) && r.Summary != nil && (present == nil || r.ID != present.ID) {
			return state.NotIdentical(r)
		}
	}
	return nil, nil
}
