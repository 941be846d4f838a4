package regress

import (
	"context"
	"errors"

	"muster/regress/host"
	"muster/regress/internal/crew"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// Check runs a candidate over the corpus and compares with the golden, which it
// never writes. Differences are in the summary; an error says that the check
// could not be made.
func Check(ctx context.Context, o Options, h host.Host) (sum Summary, err error) {
	base, err := place.Open(ctx, o.Store.Golden, placeOptions(&o, h))
	if err != nil {
		return sum, placeOptions(&o, h).ExplainUnfinished(o.Store.Golden, err)
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	meta := base.Meta()
	j, err := job.Resolve(o, &meta, report.CheckCommand)
	if err != nil {
		return sum, err
	}
	s, err := run.Open(ctx, j, h, base.Store)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := refuseOtherCorpus(s.Inputs, base.Store, &s.Job.Options); err != nil {
		return sum, err
	}
	if err := identify(ctx, s); err != nil {
		return sum, err
	}
	reportChanges(s, base.Meta())
	if err := s.Differences.Leaks.Watch(s.Execution.Crew.IsRemote() || base.Meta().OnEngine()); err != nil {
		return sum, err
	}
	c := newChecking(s, verdict.GoldenBaseline{Store: base.Store})
	c.setup.Left, c.settler = crew.FilesLeft(base.Get), run.NewSettler(s, base.Store)
	c.recorded = recorded{base.Meta(), base.Digest(), s.Inputs.Durations(base.Wall), base.Flaky}
	if c.costs, err = newMeasurement(s, c.base, func() turns.Rival { return findRecordedRival(s, base.Meta()) }, c.journal.AddPair); err != nil {
		return sum, err
	}
	if len(s.Inputs.Cases) == 0 && len(s.Inputs.Lacking) == 0 {
		return sum, s.Inputs.NoneSelected()
	}
	if s.Ledger.Summary.Sources, err = compareSources(ctx, s.Inputs, base.Store, &s.Job.Options); err != nil {
		return sum, err
	}
	return c.execute(ctx)
}

// identify finds what runs the cases: the engine if one is to, the commands and their files.
func identify(ctx context.Context, s *run.Run) error {
	if err := s.Connect(ctx); err != nil {
		return err
	}
	if err := s.ResolveCommands(); err != nil {
		return err
	}
	return s.IdentifyTool()
}

// reportChanges puts into the summary what changed since the golden was recorded: the tool, and
// settings.
func reportChanges(s *run.Run, recorded golden.Meta) {
	sum := &s.Ledger.Summary
	sum.ToolChanged = s.Tool.ChangedSince(recorded.Tool)
	sum.Settings = job.DescribeChanges(recorded, job.IdentityFlags(&s.Job.Options), "this check")
	for _, text := range sum.Settings {
		s.Events.Warn(text)
	}
	if ignore := "--ignore"; job.IdentityFlags(&s.Job.Options)[ignore] != recorded.Flags[ignore] {
		s.Ledger.WatchIgnored(s.Job.Judge.Ignore, s.Job.Ignored)
	}
}
