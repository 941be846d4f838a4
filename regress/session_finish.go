package regress

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// verdict counts and tells a case's final word.
func (s *session) verdict(e report.Case) {
	s.summary.Verdicts[e.Verdict]++
	s.summary.Masked.Add(e)
	s.idle.drop(e.Ignored)
	if e.Verdict != outcome.Identical {
		s.results = append(s.results, placed{e.Index, state.Result{
			Name: []byte(e.Name), Verdict: e.Verdict, Unstable: e.Unstable, Why: e.Why,
			Stopped: stopped(e), Engine: e.Engine,
		}})
		if stopped(e) && (e.Verdict == outcome.New || e.Verdict == outcome.Flaky) {
			s.summary.Stopped++
		}
	}
	s.events.Emit(e)
}

// stopped reports whether a signal or a limit ended a case, and did not in the
// golden.
func stopped(e report.Case) bool {
	if e.Ending == nil || e.Ending.Kind == outcome.Exited {
		return false
	}
	return e.GoldenEnding == nil || *e.GoldenEnding != *e.Ending
}

// notRun counts and tells the cases that a run did not get to.
func (s *session) notRun(judged func(index int) bool) {
	for i, e := range s.cases {
		if !judged(i) {
			s.summary.NotRun++
			s.events.Emit(report.NotRun{Name: e.Name, Index: i})
		}
	}
}

// finish fills in the figures of the summary, tells the reporters, and keeps
// the run, which err broke off unless it is nil.
func (s *session) finish(err error) error {
	s.crew.Quiet()
	broke := fault.ClassOf(err)
	if e := s.closeCrew(); err == nil {
		err = e
	}
	sum := &s.summary
	sum.Command, sum.Cases = s.name, len(s.cases)+s.absent
	sum.Interrupted, sum.BrokeOff = broke == fault.Interrupted, broke != fault.None
	if s.run != nil {
		sum.Run = s.run.ID
	}
	sum.Wall = time.Since(s.began)
	sum.Engine = s.crew.Sum()
	if s.crew.IsRemote() {
		sum.CoresBusy = sum.OwnCPU.Seconds() / max(sum.Wall, 1).Seconds()
	} else if sum.Wall > 0 && sum.Merged == 0 {
		sum.CoresBusy = (sum.CPU + sum.OwnCPU).Seconds() / sum.Wall.Seconds()
	}
	sum.ExitStatus = exitStatus(s.o, *sum, broke)
	if broke == fault.None && sum.NotRun == 0 {
		s.noteIdle()
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

// placed is a result and where its case stands in the corpus.
type placed struct {
	index  int
	result state.Result
}

// keep writes down what the run came to.
func (s *session) keep() (err error) {
	slices.SortFunc(s.results, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.index, b.index), bytes.Compare(a.result.Name, b.result.Name))
	})
	results := make([]state.Result, len(s.results))
	for i, p := range s.results {
		results[i] = p.result
	}
	if s.run.Summary, err = keptOf(s.summary).encode(); err != nil {
		return err
	}
	if err := s.run.SaveResults(results); err != nil {
		return err
	}
	return s.run.Save()
}
