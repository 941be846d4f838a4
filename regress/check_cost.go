package regress

import (
	"context"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// newMeasurement prepares to measure what the change costs. It refuses a --fail-on that could not
// be decided. On an engine it does not call findRival.
func newMeasurement(s *session, base verdict.Baseline, findRival func() turns.Rival, keepPair func(state.Pair) error) (*turns.Measurement, error) {
	limits, err := job.ParseCostLimits(&s.job.Judge)
	if err != nil {
		return nil, err
	}
	o := turns.Options{
		Limits: limits, CostCases: s.job.Judge.CostCases, FailFast: s.job.Select.FailFast > 0, Lanes: s.job.Limits.Jobs,
		FirstPass: 2 + s.job.Judge.Retries, Began: s.began, Get: base.Get, Command: s.exec.Commands.For,
		Sink: turns.Sink{Emit: s.events.Emit, AddCPU: func(used time.Duration) { s.ledger.Summary.CPU += used }, KeepPair: keepPair},
	}
	if s.exec.Crew.IsRemote() {
		if err := refuseLimitsOnEngine(&s.job.Judge); err != nil {
			return nil, err
		}
		o.Rival = turns.Rival{Elsewhere: true, Why: "the workers of an engine differ, so the cost of a change is not measured there"}
	} else {
		o.Rival = findRival()
	}
	return turns.New(o)
}

// findRecordedRival finds the command with which a check compares the cost of its own.
func findRecordedRival(s *session, recorded golden.Meta) turns.Rival {
	now := turns.Candidate{Tool: s.tool.Files()}
	if len(s.exec.Commands.ByGlob) == 0 {
		now.Command = s.exec.Commands.Main
	}
	return turns.CostRival(recorded, now)
}

// refuseLimitsOnEngine refuses --fail-on: the workers of an engine differ.
func refuseLimitsOnEngine(j *CompareOptions) error {
	if len(j.FailOn) == 0 {
		return nil
	}
	return fault.Inputf("--fail-on %s: the workers of an engine differ, so the cost of a change cannot be measured there: leave --fail-on out, or run without --remote", j.FailOn[0])
}

// reportCost measures and reports what the change costs. Every case needs its verdict before. If
// the machine failed for one of them, reportCost does nothing.
func reportCost(ctx context.Context, s *session, costs *turns.Measurement) error {
	sum := &s.ledger.Summary
	if s.job.Judge.CostCases == 0 || sum.Verdicts[outcome.Environment] > 0 {
		return nil
	}
	measured, err := costs.Measure(ctx)
	if err != nil {
		return err
	}
	sum.Over = measured.Over
	s.events.Emit(measured)
	if job.ExitStatus(&s.job.Options, *sum, fault.None) != fault.StatusClean {
		return nil // the check fails in any case
	}
	return costs.RefuseUndecided(measured)
}
