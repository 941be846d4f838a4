package reduce

import (
	"context"
	"errors"
	"strings"

	"muster/regress"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/goal"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
)

// trial runs a reference and a candidate on a source that stands in for that of a case, and finds
// the causes that it shows. Its methods may be called from several goroutines.
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
	otherEnv  string       // a flag that the run has otherwise than the golden, and the golden's command runs with too

	start *facts // of the case's own source; nil before it ran
}

// newTrial finds both commands, at the engine if there is one.
func newTrial(ctx context.Context, p *pastrun.Past, s *run.Run, found *cause.Found, target goal.Goal, reference []string) (t *trial, err error) {
	if err := s.ResolveCommands(ctx); err != nil {
		return nil, err
	}
	t = &trial{exec: s.Execution, rules: s.Job.Rules, task: pass.Task{Index: 0, Entry: &s.Inputs.Cases[0]}, causes: found.Causes, index: cause.NewIndex(found.Causes), wanted: target.Causes}
	t.candidate = s.Execution.Commands.For(target.Name)
	base, err := p.Run.OpenBase(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	old, known, err := base.Get(target.Name)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fault.Inputf("%s is not in %s any more: run muster %s again", name.Print(target.Name), p.Options.Store.Golden, p.Run.Command)
	}
	t.known = &old.Outcome
	if p.Run.Command == regress.CheckCommand && len(reference) == 0 {
		t.otherEnv = job.OtherEnvironment(base.Meta().Flags, job.OutcomeFlags(&p.Options))
	}
	t.reference, err = trustedCommand(p, s, base.Meta(), target.Name, reference)
	return t, err
}

// trustedCommand returns the trusted command: what was given, the run's own, or the one that
// made the golden, if its executable is still there as it was.
func trustedCommand(p *pastrun.Past, s *run.Run, m golden.Meta, caseName string, given []string) (*exec.Command, error) {
	switch {
	case len(given) > 0:
		return s.Execution.Crew.Resolve(given)
	case p.Run.Command == regress.CompareCommand:
		return s.Execution.Crew.Resolve(p.Options.Command.Reference)
	}
	const mend = "name the trusted one with --ref 'COMMAND'"
	r := turns.RecordedRival(m, turns.Candidate{}) // not the run's, which may be the same one
	switch {
	case r.Command == nil:
		return nil, fault.Inputf("the command that made the golden has to run again: %s: %s", r.Why, mend)
	case !r.Runs(caseName):
		return nil, fault.Inputf("the command that made the golden has to run again, and there is no digest of the one that was for %s: %s", name.Print(caseName), mend)
	}
	return r.Command, nil
}

// causeNames lists the IDs and names of the wanted causes.
func (t *trial) causeNames() string {
	var list []string
	for _, i := range t.wanted {
		list = append(list, t.causes[i].ID+" "+t.causes[i].Name)
	}
	return strings.Join(list, ", ")
}

// facts are what must not change.
type facts struct {
	was, is regress.Ending
	analyse.Explanation
}

// observation is the result of both commands on one source. Its holder must release it.
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

// observe runs both commands on a source. If the reference ends otherwise than on the case's own
// source, the cause cannot be the same, and the candidate does not run. fresh is as in exec.Job.
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
	r, err := exec.Run(ctx, t.exec.Executor, exec.Job{Source: *t.task.Entry, Content: source, Command: c, Avoid: exec.NoLane, Fresh: fresh})
	if err != nil {
		return nil, err
	}
	r.Outcome.KeepFlaky(t.known)
	outcome.MaskFlaky(&r.Outcome)
	return r, nil
}

func (s *observation) sides() (was, is content.Side) {
	return content.Side{Outcome: &s.was.Outcome, Open: s.was.Open}, content.Side{Outcome: &s.is.Outcome, Open: s.is.Open}
}

// keeps reports whether a source shows all wanted causes, and none that the case's own source did
// not show.
func (t *trial) keeps(s *observation) bool {
	if s.is == nil || !analyse.ContainsAll(s.Causes, t.wanted) {
		return false
	}
	return t.start == nil || s.Verdict == t.start.Verdict &&
		s.is.Outcome.Ending == t.start.is && analyse.ContainsAll(t.start.Causes, s.Causes) && (s.All || !t.start.All)
}

// test reports whether a source keeps the wanted causes.
func (t *trial) test(ctx context.Context, source []byte) (bool, error) {
	s, err := t.observe(ctx, source, false)
	if err != nil {
		return false, err
	}
	defer s.release()
	return t.keeps(s), nil
}
