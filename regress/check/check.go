// Package check runs a command over a corpus and compares each outcome with a baseline: Run with a
// golden, Compare with a reference command that runs beside it.
//
// Input: options and the streams of a host. Output: events, reports and a Summary. The state folder
// keeps the run, so that the commands groups, show, review and accept can read it, and --resume can
// continue it.
//
// The package does not parse flags, and never writes a golden.
package check

import (
	"context"
	"errors"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/crew"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/place"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// Run runs a candidate over the corpus and compares it with the golden. The summary has the
// differences. An error says why there is no result; regress.ClassOf returns its class.
func Run(ctx context.Context, o regress.Options, h host.Host) (sum regress.Summary, err error) {
	return runFor(ctx, o, h, nil)
}

// runFor is Run, for a watcher if w is not nil.
func runFor(ctx context.Context, o regress.Options, h host.Host, w *watcher) (sum regress.Summary, err error) {
	places := place.Options{State: state.Open(o.Store.State), Client: h.Files}
	base, err := place.Open(ctx, o.Store.Golden, places)
	if err != nil {
		return sum, places.ExplainUnfinished(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	meta := base.Meta()
	j, err := job.Resolve(o, &meta, regress.CheckCommand)
	if err != nil {
		return sum, err
	}
	r, err := run.Open(ctx, j, h, base.Store)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := refuseOtherCorpus(r.Inputs, base.Store, &r.Job.Options); err != nil {
		return sum, err
	}
	if err := r.ResolveCommands(ctx); err != nil {
		return sum, err
	}
	if err := r.IdentifyTool(); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, w.adopt(r, err)) }()
	reportChanges(r, base.Meta())
	warnEarlier(r, base.Meta())
	r.Differences.Leaks.IsWatching = r.Execution.Crew.IsRemote() || base.Meta().OnEngine()
	op := newOperation(r, verdict.GoldenBaseline{Store: base.Store})
	op.watcher, op.golden = w, base.Store
	op.setup.Visible = append(op.setup.Visible, run.VisibleFiles(meta.Tool)...)
	defer func() { err = errors.Join(err, op.reuse.close()) }()
	op.setup.Left, op.settler = crew.FilesLeft(base.Get), run.NewSettler(r, base.Store)
	op.recorded = recordedGolden{base.Meta(), base.Digest(), r.Inputs.Durations(base.Wall).Complete(), base.Flaky}
	op.costs, err = newMeasurement(r, op.base, func() turns.Rival { return findRecordedRival(r, base.Meta()) })
	if err != nil {
		return sum, err
	}
	if len(r.Inputs.Cases) == 0 && len(r.Inputs.Lacking) == 0 {
		return sum, r.Inputs.NoneSelected()
	}
	if r.Ledger.Summary.Sources, err = compareSources(ctx, r.Inputs, base.Store); err != nil {
		return sum, err
	}
	base.DropSources()
	return op.execute(ctx)
}

// reportChanges puts into the summary which settings changed since the golden was recorded.
func reportChanges(r *run.Run, recorded golden.Meta) {
	sum := &r.Ledger.Summary
	sum.Settings = job.DescribeChanges(recorded, job.IdentityFlags(&r.Job.Options), "this check")
	for _, text := range sum.Settings {
		r.Events.Warn(text)
	}
	if ignore := "--ignore"; job.IdentityFlags(&r.Job.Options)[ignore] != recorded.Flags[ignore] {
		r.Ledger.WatchIgnored(r.Job.Judge.Ignore, r.Job.Ignored)
	}
	if normalize := "--normalize"; job.IdentityFlags(&r.Job.Options)[normalize] != recorded.Flags[normalize] {
		r.WatchRules()
	}
}

// warnEarlier warns of a golden whose cases did not see what cases see now.
func warnEarlier(r *run.Run, recorded golden.Meta) {
	if recorded.TimesVary && !recorded.OnEngine() && !r.Execution.Crew.IsRemote() {
		r.Events.Warn("an earlier muster recorded this golden: its sources had the time of the run, and its cases the limits (ulimit) of the recording machine; record again, or tools that depend on these differ")
	}
}

// Compare runs two commands over the corpus: the reference o.Command.Reference, and the candidate
// o.Command.Words. Each case runs with both, one right after the other. Compare reads no golden.
func Compare(ctx context.Context, o regress.Options, h host.Host) (sum regress.Summary, err error) {
	if len(o.Command.Reference) == 0 || len(o.Command.Words) == 0 {
		return sum, fault.Inputf("compare needs two commands: --ref 'COMMAND' --new 'COMMAND'")
	}
	j, err := job.Resolve(o, nil, regress.CompareCommand)
	if err != nil {
		return sum, err
	}
	r, err := run.Open(ctx, j, h, nil)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	r.Ledger.WatchIgnored(r.Job.Judge.Ignore, r.Job.Ignored)
	if err := r.ResolveCommands(ctx); err != nil {
		return sum, err
	}
	r.WatchRules()
	command, err := r.Execution.Crew.Resolve(o.Command.Reference)
	if err != nil {
		return sum, err
	}
	if err := r.IdentifyTool(command); err != nil {
		return sum, err
	}
	r.Differences.Leaks.IsWatching = r.Execution.Crew.IsRemote()
	beside := &verdict.Reference{Command: command}
	op := newOperation(r, beside)
	op.reference = beside
	op.setup.Commands = append(op.setup.Commands, command)
	op.costs, err = newMeasurement(r, beside, func() turns.Rival { return turns.ReferenceRival(command) })
	if err != nil {
		return sum, err
	}
	return op.execute(ctx)
}

// SystemLimits returns an error of class Environment if this process may open too few files, start
// too few processes or use too little memory. Without that error, a command that meets the limits
// might end in a crash of the Go runtime, or in an error of SQLite that hides the reason. A run
// checks again what its lanes need.
func SystemLimits() error { return crew.CheckLimits(0) }
