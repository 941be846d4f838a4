package regress

import (
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// finish fills in the figures of the summary, tells the reporters, and keeps
// the run, which err broke off unless it is nil.
func (s *session) finish(err error) error {
	s.exec.Crew.Quiet()
	broke := fault.ClassOf(err)
	if e := s.exec.Stop(); err == nil {
		err = e
	}
	sum := &s.ledger.Summary
	sum.Command, sum.Cases = s.job.Name, len(s.in.Cases)+s.ledger.Absent
	sum.Interrupted, sum.BrokeOff = broke == fault.Interrupted, broke != fault.None
	if s.run != nil {
		sum.Run, sum.Mixed = s.run.ID, s.tool.MarkMixed(s.run.Identity)
	}
	sum.Wall = time.Since(s.began)
	sum.OwnCPU = s.exec.OwnCPU
	sum.Engine = s.exec.Crew.Sum()
	if s.exec.Crew.IsRemote() {
		sum.CoresBusy = sum.OwnCPU.Seconds() / max(sum.Wall, 1).Seconds()
	} else if sum.Wall > 0 && sum.Merged == 0 {
		sum.CoresBusy = (sum.CPU + sum.OwnCPU).Seconds() / sum.Wall.Seconds()
	}
	sum.ExitStatus = job.ExitStatus(&s.job.Options, *sum, broke)
	if broke == fault.None && sum.NotRun == 0 {
		s.ledger.NoteUnused(len(s.in.Cases))
	}
	s.events.Emit(report.Finished{Summary: *sum})
	if s.run == nil {
		return err
	}
	s.run.Finished = broke == fault.None
	if e := s.keep(); err == nil {
		err = e
	}
	return err
}

// keep writes down what the run came to.
func (s *session) keep() (err error) {
	if s.run.Summary, err = state.Encode(state.SummaryOf(s.ledger.Summary)); err != nil {
		return err
	}
	if err := s.run.SaveResults(s.ledger.Results()); err != nil {
		return err
	}
	return s.run.Save()
}
