package regress

import (
	"context"
	"errors"

	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// Compare runs two commands over the corpus, o.Command.Reference and the
// candidate o.Command.Words, interleaved, and compares what they leave; no
// golden is read or written.
func Compare(ctx context.Context, o Options, h host.Host) (sum Summary, err error) {
	if len(o.Command.Reference) == 0 || len(o.Command.Words) == 0 {
		return sum, fault.Inputf("compare needs two commands: --ref 'COMMAND' --new 'COMMAND'")
	}
	j, err := job.Resolve(o, nil, report.CompareCommand)
	if err != nil {
		return sum, err
	}
	s, err := run.Open(ctx, j, h, nil)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Ledger.WatchIgnored(s.Job.Judge.Ignore, s.Job.Ignored)
	if err := s.Connect(ctx); err != nil {
		return sum, err
	}
	if err := s.ResolveCommands(); err != nil {
		return sum, err
	}
	command, err := s.Execution.Crew.Resolve(o.Command.Reference)
	if err != nil {
		return sum, err
	}
	if err := s.IdentifyTool(command); err != nil {
		return sum, err
	}
	if err := s.Differences.Leaks.Watch(s.Execution.Crew.IsRemote()); err != nil {
		return sum, err
	}
	beside := &verdict.Reference{Command: command}
	c := newChecking(s, beside)
	c.reference = beside
	c.setup.Commands = append(c.setup.Commands, command)
	if c.costs, err = newMeasurement(s, beside, func() turns.Rival { return turns.ReferenceRival(command) }, c.journal.AddPair); err != nil {
		return sum, err
	}
	return c.execute(ctx)
}
