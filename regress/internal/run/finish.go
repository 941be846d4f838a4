package run

import (
	"time"

	"muster/regress"
	"muster/regress/internal/analyse"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Finish completes the summary, reports it, and saves the run. err is the error that ended the run,
// or nil.
func (r *Run) Finish(err error) error {
	r.Execution.Crew.Quiet()
	broke := regress.ClassOf(err)
	if e := r.Execution.Stop(); err == nil {
		err = e
	}
	sum := &r.Ledger.Summary
	sum.Command, sum.Cases = r.Job.Name, len(r.Inputs.Cases)+r.Ledger.Absent
	sum.Interrupted, sum.BrokeOff = broke == regress.Interrupted, broke != regress.None
	if r.Folder != nil {
		sum.Run, sum.Mixed = r.Folder.ID, r.Tool.MarkMixed(r.Folder.Identity)
	}
	sum.Tool.Files, sum.Tool.Observed, sum.Tool.Varying = r.Tool.count()
	sum.Wall = time.Since(r.Began)
	sum.OwnCPU = r.Execution.OwnCPU
	sum.Engine = r.Execution.Crew.Sum()
	if r.Execution.Crew.IsRemote() {
		sum.CoresBusy = sum.OwnCPU.Seconds() / max(sum.Wall, 1).Seconds()
	} else if sum.Wall > 0 && sum.Merged == 0 {
		sum.CoresBusy = (sum.CPU + sum.OwnCPU).Seconds() / sum.Wall.Seconds()
	}
	sum.ExitStatus = job.ExitStatus(&r.Job.Options, *sum, broke)
	if broke == regress.None && sum.NotRun == 0 {
		r.Ledger.NoteUnused(len(r.Inputs.Cases))
	}
	r.Events.Emit(report.Finished{Summary: *sum})
	if r.Folder == nil {
		return err
	}
	r.Folder.Finished = broke == regress.None
	if e := save(r.Folder, r.Ledger); err == nil {
		err = e
	}
	return err
}

// save writes the summary and the results of a run.
func save(r *state.Run, l *Ledger) (err error) {
	if r.Summary, err = state.Encode(state.SummaryOf(l.Summary)); err != nil {
		return err
	}
	if err := r.SaveResults(l.Results()); err != nil {
		return err
	}
	return r.Save()
}

// ReportGroups finds the causes of all collected differences, reports them, and saves them with the
// run.
func (r *Run) ReportGroups(sides analyse.SidesOf) error {
	found := r.Differences.Causes()
	r.Ledger.Summary.Groups = len(found.Causes)
	err := analyse.EmitGroups(found, r.Job.Rules, sides, func(g report.Group) { r.Events.Emit(g) })
	if err != nil || r.Folder == nil {
		return err
	}
	encoded, err := found.Encode()
	if err != nil {
		return err
	}
	return r.Folder.SaveCauses(encoded)
}

// HintResume returns the end of the error of an interrupted run. It says whether --resume goes on.
func HintResume(s *regress.Summary) string {
	if s.Mixed {
		return "; --resume refuses this run, as its tool changed meanwhile"
	}
	return "; --resume goes on"
}
