// Package record runs the trusted command over every case, several times, and records the outcomes
// in a new golden. Parts that differ between the runs of a case become flaky.
//
// Input: options and a host. Output: the golden, the reports and a Summary. An interrupted record can
// be resumed. The package must not compare with an earlier golden.
package record

import (
	"context"
	"errors"
	"maps"
	"slices"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/place"
	"muster/regress/internal/run"
)

// Run runs the trusted command over the corpus, every case as often as
// o.Judge.Repeat says, and writes the golden: beside its name first, renamed
// over it when it is complete. If every case fails it writes none, unless
// o.Judge.AllowFailures.
func Run(ctx context.Context, o regress.Options, h host.Host) (sum regress.Summary, err error) {
	into, err := place.FindTarget(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return sum, err
	}
	defer into.Close()
	j, err := job.Resolve(o, nil, regress.RecordCommand)
	if err != nil {
		return sum, err
	}
	s, err := run.Open(ctx, j, h, nil)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s.Ledger.WatchIgnored(s.Job.Judge.Ignore, s.Job.Ignored)
	if err := s.ResolveCommands(ctx); err != nil {
		return sum, err
	}
	s.WatchRules()
	if err := s.IdentifyTool(); err != nil {
		return sum, err
	}
	took, err := durationsOf(ctx, into, s)
	if err != nil {
		return sum, err
	}
	p, err := begin(ctx, s, into, took)
	if err != nil {
		return s.Ledger.Summary, err
	}
	watching, watched := s.Tool.Watch(ctx, run.WatchEvery, s.Folder, s.Events.Warn)
	changed, err := watched(p.runAll(watching))
	return s.Ledger.Summary, end(ctx, into, p, changed, err)
}

// countKept counts the cases that the unfinished golden keeps. Those that a full disk has lost are counted
// as not run.
func (p *passes) countKept(kept map[string]bool) {
	sum, lost := &p.run.Ledger.Summary, 0
	sum.Recorded = 0
	for i, e := range p.run.Inputs.Cases {
		switch {
		case p.cases.failed[i] != nil || !p.cases.isKnown(i): // counted
		case kept[e.Name]:
			sum.Recorded++
		default:
			lost++
		}
	}
	if lost > 0 {
		sum.NotRun += lost
		p.run.Events.Warn(readable.Cases(lost) + " ran, but the golden could not keep them: they count as not run, and --resume runs them again")
	}
}

// end completes the golden, or keeps what is done for --resume. If the tool changed while cases ran, it keeps nothing.
func end(ctx context.Context, into place.Place, p *passes, changed bool, err error) error {
	s := p.run
	if err == nil {
		err = s.Inputs.RefuseChanged(s.Events.Warn)
	}
	if err == nil && len(p.cases.failed) > 0 {
		first := p.cases.failed[slices.Min(slices.Collect(maps.Keys(p.cases.failed)))]
		err = fault.Environmentf("%s failed because of the machine: %s is as it was, what ran is kept; --resume goes on; the first: %w", readable.Cases(len(p.cases.failed)), s.Job.Store.Golden, first)
	}
	if err == nil {
		p.varying.warn(s)
		p.varying.note(s)
		err = p.failing.name()
	}
	switch {
	case err != nil:
	case p.failing.refuse():
		s.Ledger.Summary.Recorded = 0
		err = p.writer.Abort(false)
	default:
		var m golden.Meta
		if m, err = s.Meta(ctx); err == nil {
			err = p.writer.SetTool(m.Tool, m.ExecutableDigest)
		}
		if err == nil {
			err = p.writer.Finish()
		}
		if err == nil {
			err = into.Publish(ctx, "muster record --resume sends it")
		}
	}
	// An unfinished golden is kept for --resume.
	err = errors.Join(err, p.writer.Abort(!changed))
	if changed {
		p.cases = newCases(p.cases.took, true)
		p.reportStart(s.Inputs.Tasks())
		err = errors.Join(err, s.Forget())
	}
	s.Ledger.NotRun(s.Inputs.Cases, p.cases.isKnown)
	if kept, incomplete := p.writer.Kept(); incomplete && err != nil && !changed {
		p.countKept(kept)
	}
	err = s.Finish(err)
	if s.Ledger.Summary.Interrupted {
		return fault.Interruptedf("interrupted: runs of %s of %s are kept, %s is as it was; --resume goes on",
			readable.Number(s.Ledger.Summary.Recorded), readable.Cases(len(s.Inputs.Cases)), s.Job.Store.Golden)
	}
	return err
}
