package regress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/crew"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// checking is a check or a compare under way, from its first run to its summary.
type checking struct {
	session   *session
	setup     crew.Setup
	settler   crew.Settler
	base      verdict.Baseline
	reference *verdict.Reference // nil in a check
	recorded  recorded           // zero in a compare
	costs     *turns.Measurement
	journal   verdict.Journal

	// The fields below are nil before start.
	judge *verdict.Judge
	loop  *verdict.Loop
}

// recorded is what a check knows of its golden beside the outcomes.
type recorded struct {
	meta   golden.Meta
	digest outcome.Digest
	took   pass.Durations             // of the selected cases
	masks  func(caseName string) bool // reports whether parts of a case vary
}

func newChecking(s *session, base verdict.Baseline) *checking {
	return &checking{session: s, base: base, setup: newSetup(s)}
}

// run makes both passes and sums up.
func (c *checking) run(ctx context.Context) (Summary, error) {
	s := c.session
	pending, err := c.begin(ctx)
	if err != nil {
		return s.ledger.Summary, err
	}
	ctx, watched := s.tool.Watch(ctx, s.events.Warn)
	err = c.loop.RunFirst(ctx, pending)
	if e := c.journal.CloseLines(); err == nil {
		err = e
	}
	if err == nil {
		err = c.loop.RunFurther(ctx)
		warnLeaks(s)
	}
	if err == nil {
		err = s.groups(c.judge.Sides)
	}
	if err == nil && c.loop.AllEnded() {
		err = reportCost(ctx, s, c.costs)
	}
	if err != nil {
		err = errors.Join(err, c.loop.ReportUndecided())
	}
	if e := c.journal.ClosePairs(); err == nil {
		err = e
	}
	err = c.end(c.endStores(watched(err)))
	return s.ledger.Summary, err
}

// endStores completes what is kept of the run, or leaves it for --resume.
func (c *checking) endStores(err error) error {
	if e := c.judge.Found.End(err); e != nil {
		err = errors.Join(err, e)
	}
	if c.reference == nil {
		return err
	}
	if e := c.reference.End(err); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// begin starts a new run or goes on with an interrupted one, and returns the cases that have to
// run.
func (c *checking) begin(ctx context.Context) (pending []pass.Task, err error) {
	s := c.session
	defer func() {
		if err != nil {
			err = errors.Join(err, s.dropRun())
		}
	}()
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	done, pairs, err := c.journal.Open(s.run)
	if err != nil {
		return nil, err
	}
	c.costs.Resume(pairs)
	if pending, err = c.resume(ctx, state.LinesByName(done)); err != nil {
		return nil, errors.Join(c.endStores(err), c.journal.CloseLines(), c.journal.ClosePairs())
	}
	return pending, nil
}

// resume takes over the cases that an interrupted run finished, and returns the others.
func (c *checking) resume(ctx context.Context, done map[string]state.Line) (pending []pass.Task, err error) {
	s := c.session
	if !s.exec.Crew.IsRemote() { // there the preflight detects another tool
		finished := verdict.FinishedCases{
			Judge: c.judge, Numbers: c.numbers(), Done: done, Command: s.exec.Commands.For,
			Sample: newSample(s, c.judge.Found.Meta, s.job.Judge.Retries),
		}
		if err := finished.Repeat(ctx, s.in.Tasks()); err != nil {
			return nil, err
		}
	}
	left := slices.DeleteFunc(s.in.Tasks(), func(t pass.Task) bool {
		_, known := done[t.Entry.Name]
		return known
	})
	s.events.Emit(report.Started{
		Command: s.job.Name, Run: s.run.ID, Corpus: s.job.Corpus.Path, Tool: job.CommandLine(&s.job.Command), Against: c.against(), Cases: len(s.in.Cases), Jobs: s.exec.Crew.Width().Jobs,
		Resumed: len(done), Expected: c.recorded.took.Complete().Sum(left), Allowed: job.ParseAllowed(&s.job.Options), At: s.began,
	})
	return c.loop.TakeFinished(orderTasks(s, c.recorded.took), done)
}

// start brings up the lanes, and finds or makes the run and its stores.
func (c *checking) start(ctx context.Context) error {
	s := c.session
	id, err := c.identity(ctx)
	if err != nil {
		return err
	}
	if err := s.exec.Start(ctx, c.setup); err != nil {
		return err
	}
	c.costs.Start(s.exec.Executor)
	s.exec.Executor = c.settler.Decorate(s.exec.Executor)
	maps.Copy(id, s.exec.Crew.Identity())
	if err := s.startRun(id, c.recorded.digest); err != nil {
		return err
	}
	meta, err := s.meta(ctx)
	if err != nil {
		return err
	}
	noteOtherPreflight(s.events, c.recorded.meta, meta)
	if c.reference != nil {
		if c.reference.Store, err = keep.Resume(s.run.References(), meta); err != nil {
			return err
		}
	}
	found, err := keep.Resume(s.run.Outcomes(), meta)
	if err != nil {
		return err
	}
	found.Sources = s.in.Digests
	c.prepareLoop(found)
	return nil
}

// identity returns what must be the same to resume the run.
func (c *checking) identity(ctx context.Context) (map[string]string, error) {
	id, err := c.session.identity(ctx)
	if err != nil {
		return nil, err
	}
	id["--golden"] = c.session.job.Store.Golden // accept writes to it
	if c.reference != nil {
		crew.IdentifyCommand("the reference", c.reference.Command, id)
	} else {
		id["the golden"] = c.recorded.digest.String()
	}
	return id, nil
}

// prepareLoop makes the judge and the loop. The crew runs, and the run has begun.
func (c *checking) prepareLoop(found *keep.Store) {
	s, width := c.session, c.session.exec.Crew.Width()
	c.judge = &verdict.Judge{
		Baseline: c.base, Reference: c.reference, Masks: c.recorded.masks, Found: found,
		Rules: s.job.Rules, Ignored: s.job.Ignored, Comparer: s.comparer, Differences: s.differences,
	}
	c.loop = verdict.New(verdict.Options{
		Judge: c.judge, Cases: s.in.Cases, Numbers: c.numbers(), Due: c.recorded.took.Complete(),
		FailFast: s.job.Select.FailFast, AllowNew: slices.Contains(s.job.Judge.Allow, outcome.New.String()),
		Runner: s.exec.Runner(s.events.Emit), Goroutines: width.Goroutines, Jobs: width.Jobs, Alone: onePerLane(s), Settle: c.settler.Settle,
		Journal: &c.journal, Costs: c.costs, Ledger: s.ledger, Events: s.events,
		WarnFailing: func() { warnFailing(s) }, Resumed: s.resumed,
	})
}

// numbers returns how often cases run.
func (c *checking) numbers() verdict.RunNumbers {
	return verdict.RunNumbers{Retries: c.session.job.Judge.Retries, Identical: c.session.job.Judge.Runs}
}

// against names what the candidate is compared with.
func (c *checking) against() string {
	if c.reference != nil {
		return name.QuoteAll(c.session.job.Command.Reference)
	}
	return c.session.job.Store.Golden
}

// end sums up, whatever happened before.
func (c *checking) end(err error) error {
	s := c.session
	if err == nil {
		err = s.in.RefuseChanged(s.events.Warn)
	}
	if err == nil {
		err = c.addMissing()
	}
	if err == nil {
		warnCommand(s, c.loop)
		err = warnAcceptedElsewhere(s, c.base, c.recorded.meta)
	}
	s.ledger.NotRun(s.in.Cases, c.loop.IsDecided)
	err = s.finish(err)
	if s.ledger.Summary.Interrupted {
		return fault.Interruptedf("%s%s", describeInterrupt(&s.ledger.Summary, len(s.in.Cases)), s.goesOn())
	}
	return err
}

// describeInterrupt says what an interrupted run of a number of cases lacks.
func describeInterrupt(sum *Summary, cases int) string {
	once := sum.Verdicts[outcome.DifferedOnce]
	if sum.NotRun+once == 0 {
		return "interrupted: all cases have their verdicts, but the cost of the change is not measured"
	}
	text := fmt.Sprintf("interrupted: %s of %s did not run", readable.Number(sum.NotRun), readable.Cases(cases))
	if once > 0 {
		text += fmt.Sprintf(", and %s differed and did not run again", readable.Number(once))
	}
	return text
}

// addMissing gives a verdict to the cases that the corpus lacks.
func (c *checking) addMissing() error {
	s := c.session
	for i, name := range s.in.Lacking {
		old, _, err := c.base.Get(name)
		if err != nil {
			return err
		}
		s.ledger.Verdict(report.Case{Name: name, Index: len(s.in.Cases) + i, Verdict: outcome.Missing, GoldenEnding: &old.Outcome.Ending})
		s.ledger.Absent++
	}
	return nil
}
