package reduce

import (
	"context"

	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
)

// trial runs a reference and a candidate on a source that is in no corpus, in the place
// of a case's own, and looks which causes that shows. Its methods may be called from
// several goroutines.
type trial struct {
	exec      *run.Execution
	rules     normalize.Rules
	task      pass.Task
	reference *exec.Command
	candidate *exec.Command
	known     *outcome.Outcome // of the case, with the parts that are known to be flaky
	causes    []cause.Cause
	index     *cause.Index // of those
	wanted    []int        // of causes

	start *facts // of the case's own source; nil before it ran
}

// facts are what must stay as it was.
type facts struct {
	was, is outcome.Ending
	analyse.Explanation
}

// observation is what one source showed. Its holder must release it.
type observation struct {
	was, is *exec.Result // is may be nil: the reference ended otherwise than with the case's own source
	analyse.Explanation
}

func (s *observation) release() {
	for _, r := range []*exec.Result{s.was, s.is} {
		if r != nil {
			r.Release()
		}
	}
}

// observe runs both on a source. What the reference makes another end of cannot have the
// same cause: then the candidate does not run. fresh is as in exec.Job.
func (t *trial) observe(ctx context.Context, source []byte, fresh bool) (s *observation, err error) {
	s = &observation{}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	if s.was, err = t.runOn(ctx, source, t.reference, fresh); err != nil {
		return s, err
	}
	if t.start != nil && s.was.Outcome.Ending != t.start.was {
		return s, nil
	}
	if s.is, err = t.runOn(ctx, source, t.candidate, fresh); err != nil {
		return s, err
	}
	was, is := s.sides()
	s.Explanation, err = analyse.Explain(t.rules, t.index, t.task.Entry.Name, int64(len(source)), was, is)
	return s, err
}

func (t *trial) runOn(ctx context.Context, source []byte, c *exec.Command, fresh bool) (*exec.Result, error) {
	r, err := t.exec.Executor.Run(ctx, exec.Job{Source: *t.task.Entry, Content: source, Command: c, Avoid: exec.NoLane, Fresh: fresh})
	if err != nil {
		return nil, err
	}
	r.Outcome.KeepFlaky(t.known)
	return r, nil
}

func (s *observation) sides() (was, is content.Side) {
	return content.Side{Outcome: &s.was.Outcome, Open: s.was.Open}, content.Side{Outcome: &s.is.Outcome, Open: s.is.Open}
}

// keeps reports whether a source shows what is wanted and nothing that the case's own
// did not: causes may vanish, others may not come.
func (t *trial) keeps(s *observation) bool {
	if s.is == nil || !analyse.ContainsAll(s.Causes, t.wanted) {
		return false
	}
	return t.start == nil || s.Verdict == t.start.Verdict &&
		s.is.Outcome.Ending == t.start.is && analyse.ContainsAll(t.start.Causes, s.Causes) && (s.All || !t.start.All)
}

// test is keeps as package shrink asks for it.
func (t *trial) test(ctx context.Context, source []byte) (bool, error) {
	s, err := t.observe(ctx, source, false)
	if err != nil {
		return false, err
	}
	defer s.release()
	return t.keeps(s), nil
}
