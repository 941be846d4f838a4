package check

import (
	"context"
	"time"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// newMeasurement prepares to measure what the change costs. It refuses a --fail-on that could not
// be decided. On an engine it does not call findRival.
func newMeasurement(r *run.Run, base verdict.Baseline, findRival func() turns.Rival, keepPair func(state.Pair) error) (*turns.Measurement, error) {
	limits, err := job.ParseCostLimits(&r.Job.Judge)
	if err != nil {
		return nil, err
	}
	o := turns.Options{
		Limits: limits, CostCases: r.Job.Judge.CostCases, FailFast: r.Job.Select.FailFast > 0, Lanes: r.Job.Limits.Jobs,
		FirstPass: 2 + r.Job.Judge.Retries, Began: r.Began, Get: base.Get, Command: r.Execution.Commands.For,
		Sink: turns.Sink{Emit: r.Events.Emit, AddCPU: func(used time.Duration) { r.Ledger.Summary.CPU += used }, KeepPair: keepPair},
	}
	if r.Execution.Crew.IsRemote() {
		if err := refuseLimitsOnEngine(&r.Job.Judge); err != nil {
			return nil, err
		}
		o.Rival = turns.Rival{Elsewhere: true, Why: "the workers of an engine differ, so the cost of a change is not measured there"}
	} else {
		o.Rival = findRival()
	}
	return turns.New(o)
}

// findRecordedRival finds the command with which a check compares the cost of its own.
func findRecordedRival(r *run.Run, recorded golden.Meta) turns.Rival {
	now := turns.Candidate{Tool: r.Tool.Closure()}
	if len(r.Execution.Commands.ByGlob) == 0 {
		now.Command = r.Execution.Commands.Main
	}
	return turns.CostRival(recorded, now)
}

// refuseLimitsOnEngine refuses --fail-on: the workers of an engine differ.
func refuseLimitsOnEngine(j *regress.CompareOptions) error {
	if len(j.FailOn) == 0 {
		return nil
	}
	return fault.Inputf("--fail-on %s: the workers of an engine differ, so the cost of a change cannot be measured there: leave --fail-on out, or run without --remote", j.FailOn[0])
}

// reportCost measures and reports what the change costs. Every case needs its verdict before. If
// the machine failed for one of them, reportCost does nothing.
func reportCost(ctx context.Context, r *run.Run, costs *turns.Measurement) error {
	sum := &r.Ledger.Summary
	if r.Job.Judge.CostCases == 0 || sum.Verdicts[regress.EnvironmentFailed] > 0 {
		return nil
	}
	measured, err := costs.Measure(ctx)
	if err != nil {
		return err
	}
	sum.Over = measured.Over
	r.Events.Emit(measured)
	if job.ExitStatus(&r.Job.Options, *sum, regress.None) != regress.StatusClean {
		return nil // the check fails in any case
	}
	return costs.RefuseUndecided(measured)
}
