package check

import (
	"context"
	"errors"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

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
	if err := r.Connect(ctx); err != nil {
		return sum, err
	}
	if err := r.ResolveCommands(); err != nil {
		return sum, err
	}
	command, err := r.Execution.Crew.Resolve(o.Command.Reference)
	if err != nil {
		return sum, err
	}
	if err := r.IdentifyTool(command); err != nil {
		return sum, err
	}
	if err := r.Differences.Leaks.Watch(r.Execution.Crew.IsRemote()); err != nil {
		return sum, err
	}
	beside := &verdict.Reference{Command: command}
	op := newOperation(r, beside)
	op.reference = beside
	op.setup.Commands = append(op.setup.Commands, command)
	if op.costs, err = newMeasurement(r, beside, func() turns.Rival { return turns.ReferenceRival(command) }, op.journal.AddPair); err != nil {
		return sum, err
	}
	return op.execute(ctx)
}
