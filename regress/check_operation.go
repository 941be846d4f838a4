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
	"muster/regress/internal/run"
	"muster/regress/internal/state"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// checking is a check or a compare under way, from its first run to its summary.
type checking struct {
	run       *run.Run
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

func newChecking(s *run.Run, base verdict.Baseline) *checking {
	return &checking{run: s, base: base, setup: s.Setup()}
}

// execute makes both passes and sums up.
func (c *checking) execute(ctx context.Context) (Summary, error) {
	s := c.run
	pending, err := c.begin(ctx)
	if err != nil {
		return s.Ledger.Summary, err
	}
	ctx, watched := s.Tool.Watch(ctx, s.Events.Warn)
	err = c.loop.RunFirst(ctx, pending)
	if e := c.journal.CloseLines(); err == nil {
		err = e
	}
	if err == nil {
		err = c.loop.RunFurther(ctx)
		warnLeaks(s)
	}
	if err == nil {
		err = s.ReportGroups(c.judge.Sides)
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
	return s.Ledger.Summary, err
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
	s := c.run
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Drop())
		}
	}()
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	done, pairs, err := c.journal.Open(s.Folder)
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
	s := c.run
	if !s.Execution.Crew.IsRemote() { // there the preflight detects another tool
		finished := verdict.FinishedCases{
			Judge: c.judge, Numbers: c.numbers(), Done: done, Command: s.Execution.Commands.For,
			Sample: run.NewSample(s, c.judge.Found.Meta, s.Job.Judge.Retries),
		}
		if err := finished.Repeat(ctx, s.Inputs.Tasks()); err != nil {
			return nil, err
		}
	}
	left := slices.DeleteFunc(s.Inputs.Tasks(), func(t pass.Task) bool {
		_, known := done[t.Entry.Name]
		return known
	})
	s.Events.Emit(report.Started{
		Command: s.Job.Name, Run: s.Folder.ID, Corpus: s.Job.Corpus.Path, Tool: job.CommandLine(&s.Job.Command), Against: c.against(), Cases: len(s.Inputs.Cases), Jobs: s.Width().Jobs,
		Resumed: len(done), Expected: c.recorded.took.Complete().Sum(left), Allowed: job.ParseAllowed(&s.Job.Options), At: s.Began,
	})
	return c.loop.TakeFinished(s.OrderTasks(c.recorded.took), done)
}

// start brings up the lanes, and finds or makes the run and its stores.
func (c *checking) start(ctx context.Context) error {
	s := c.run
	id, err := c.identity(ctx)
	if err != nil {
		return err
	}
	if err := s.Execution.Start(ctx, c.setup); err != nil {
		return err
	}
	c.costs.Start(s.Execution.Executor)
	s.Execution.Executor = c.settler.Decorate(s.Execution.Executor)
	maps.Copy(id, s.Execution.Crew.Identity())
	if err := s.Begin(id, c.recorded.digest); err != nil {
		return err
	}
	meta, err := s.Meta(ctx)
	if err != nil {
		return err
	}
	noteOtherPreflight(s.Events, c.recorded.meta, meta)
	if c.reference != nil {
		if c.reference.Store, err = keep.Resume(s.Folder.References(), meta); err != nil {
			return err
		}
	}
	found, err := keep.Resume(s.Folder.Outcomes(), meta)
	if err != nil {
		return err
	}
	found.Sources = s.Inputs.Digests
	c.prepareLoop(found)
	return nil
}

// identity returns what must be the same to resume the run.
func (c *checking) identity(ctx context.Context) (map[string]string, error) {
	id, err := c.run.Identity(ctx)
	if err != nil {
		return nil, err
	}
	id["--golden"] = c.run.Job.Store.Golden // accept writes to it
	if c.reference != nil {
		crew.IdentifyCommand("the reference", c.reference.Command, id)
	} else {
		id["the golden"] = c.recorded.digest.String()
	}
	return id, nil
}

// prepareLoop makes the judge and the loop. The crew runs, and the run has begun.
func (c *checking) prepareLoop(found *keep.Store) {
	s, width := c.run, c.run.Width()
	c.judge = &verdict.Judge{
		Baseline: c.base, Reference: c.reference, Masks: c.recorded.masks, Found: found,
		Rules: s.Job.Rules, Ignored: s.Job.Ignored, Comparer: s.Comparer, Differences: s.Differences,
	}
	c.loop = verdict.New(verdict.Options{
		Judge: c.judge, Cases: s.Inputs.Cases, Numbers: c.numbers(), Due: c.recorded.took.Complete(),
		FailFast: s.Job.Select.FailFast, AllowNew: slices.Contains(s.Job.Judge.Allow, outcome.New.String()),
		Runner: s.Execution.Runner(s.Events.Emit), Goroutines: width.Goroutines, Jobs: width.Jobs, Alone: s.Width().Alone, Settle: c.settler.Settle,
		Journal: &c.journal, Costs: c.costs, Ledger: s.Ledger, Events: s.Events,
		WarnFailing: func() { warnFailing(s) }, Resumed: s.Resumed,
	})
}

// numbers returns how often cases run.
func (c *checking) numbers() verdict.RunNumbers {
	return verdict.RunNumbers{Retries: c.run.Job.Judge.Retries, Identical: c.run.Job.Judge.Runs}
}

// against names what the candidate is compared with.
func (c *checking) against() string {
	if c.reference != nil {
		return name.QuoteAll(c.run.Job.Command.Reference)
	}
	return c.run.Job.Store.Golden
}

// end sums up, whatever happened before.
func (c *checking) end(err error) error {
	s := c.run
	if err == nil {
		err = s.Inputs.RefuseChanged(s.Events.Warn)
	}
	if err == nil {
		err = c.addMissing()
	}
	if err == nil {
		warnCommand(s, c.loop)
		err = warnAcceptedElsewhere(s, c.base, c.recorded.meta)
	}
	s.Ledger.NotRun(s.Inputs.Cases, c.loop.IsDecided)
	err = s.Finish(err)
	if s.Ledger.Summary.Interrupted {
		return fault.Interruptedf("%s%s", describeInterrupt(&s.Ledger.Summary, len(s.Inputs.Cases)), run.HintResume(&s.Ledger.Summary))
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
	s := c.run
	for i, name := range s.Inputs.Lacking {
		old, _, err := c.base.Get(name)
		if err != nil {
			return err
		}
		s.Ledger.Verdict(report.Case{Name: name, Index: len(s.Inputs.Cases) + i, Verdict: outcome.Missing, GoldenEnding: &old.Outcome.Ending})
		s.Ledger.Absent++
	}
	return nil
}
