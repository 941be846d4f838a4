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
	s, err := open(ctx, j, h, base.Store)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := refuseOtherCorpus(s.in, base.Store, &s.job.Options); err != nil {
		return sum, err
	}
	if err := identify(ctx, s); err != nil {
		return sum, err
	}
	reportChanges(s, base.Meta())
	if err := s.differences.Leaks.Watch(s.exec.Crew.IsRemote() || base.Meta().OnEngine()); err != nil {
		return sum, err
	}
	c := newChecking(s, verdict.GoldenBaseline{Store: base.Store})
	c.setup.Left, c.settler = crew.FilesLeft(base.Get), newSettler(s, base.Store)
	c.recorded = recorded{base.Meta(), base.Digest(), s.in.Durations(base.Wall), base.Flaky}
	if c.costs, err = newMeasurement(s, c.base, func() turns.Rival { return findRecordedRival(s, base.Meta()) }, c.journal.AddPair); err != nil {
		return sum, err
	}
	if len(s.in.Cases) == 0 && len(s.in.Lacking) == 0 {
		return sum, s.in.NoneSelected()
	}
	if s.ledger.Summary.Sources, err = compareSources(ctx, s.in, base.Store, &s.job.Options); err != nil {
		return sum, err
	}
	return c.run(ctx)
}

// identify finds what runs the cases: the engine if one is to, the commands and their files.
func identify(ctx context.Context, s *session) error {
	if err := s.exec.Connect(ctx, crewOptions(s)); err != nil {
		return err
	}
	if err := resolveCommands(s); err != nil {
		return err
	}
	return identifyTool(s)
}

// reportChanges puts into the summary what changed since the golden was recorded: the tool, and
// settings.
func reportChanges(s *session, recorded golden.Meta) {
	sum := &s.ledger.Summary
	sum.ToolChanged = s.tool.ChangedSince(recorded.Tool)
	sum.Settings = job.DescribeChanges(recorded, job.IdentityFlags(&s.job.Options), "this check")
	for _, text := range sum.Settings {
		s.events.Warn(text)
	}
	if ignore := "--ignore"; job.IdentityFlags(&s.job.Options)[ignore] != recorded.Flags[ignore] {
		s.ledger.WatchIgnored(s.job.Judge.Ignore, s.job.Ignored)
	}
}
