package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/crew"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/reuse"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
	"muster/regress/internal/verdict"
)

// operation is a check or a compare under way, from its first run to its summary.
type operation struct {
	run       *run.Run
	setup     crew.Setup
	settler   crew.Settler
	base      verdict.Baseline
	reference *verdict.Reference // nil in a check
	recorded  recordedGolden     // zero in a compare
	golden    *golden.Store      // nil in a compare
	costs     *turns.Measurement
	journal   verdict.Journal
	watcher   *watcher // nil outside of Watch
	reuse     *reuser  // nil without --reuse and --remote-cache
	forker    *forker  // nil without --fork-server, and where there can be none

	// The fields below are nil before start.
	judge *verdict.Judge
	loop  *verdict.Loop
}

// recordedGolden is what a check knows of its golden beside the outcomes.
type recordedGolden struct {
	meta   golden.Meta
	digest outcome.Digest
	took   pass.Durations             // of the selected cases, complete
	masks  func(caseName string) bool // reports whether parts of a case vary
}

func newOperation(r *run.Run, base verdict.Baseline) *operation {
	return &operation{run: r, base: base, setup: r.Setup()}
}

// execute makes both passes and sums up.
func (op *operation) execute(ctx context.Context) (regress.Summary, error) {
	r := op.run
	pending, err := op.begin(ctx)
	if err != nil {
		return r.Ledger.Summary, err
	}
	watching, watched := r.Tool.Watch(ctx, op.watcher.lookEvery(), r.Folder, r.Events.Warn)
	err = op.runCases(watching, pending)
	var cases map[string]reuse.Case
	if err == nil {
		cases, err = op.reuse.keep(op.loop, op.judge.Found)
	}
	changed, err := watched(err)
	if err != nil && !changed {
		err = errors.Join(err, op.loop.ReportUndecided())
	}
	err = cmp.Or(err, op.journal.Close())
	err = op.endStores(err)
	if changed {
		op.reportStart(0, 0)
		err = errors.Join(err, r.Forget())
	}
	err = op.end(ctx, err, changed, cases)
	return r.Ledger.Summary, err
}

// runCases makes both passes over the pending cases, and reports causes and cost.
func (op *operation) runCases(ctx context.Context, pending []pass.Task) (err error) {
	r := op.run
	if op.forker != nil {
		err = op.forker.runFirst(ctx, op.loop, pending)
	} else {
		err = op.reuse.runFirst(ctx, op.loop, pending)
	}
	if err == nil {
		err = op.loop.RunFurther(ctx)
		if text := r.Differences.Leaks.Advice(); text != "" {
			r.Events.Warn(text)
		}
	}
	if err == nil {
		err = r.ReportGroups(op.judge.Sides)
	}
	if err == nil && op.loop.AllEnded() {
		err = reportCost(ctx, r, op.costs)
	}
	return err
}

// further returns the commands that run beside the candidate's.
func (op *operation) further() []*exec.Command {
	if op.reference == nil {
		return nil
	}
	return []*exec.Command{op.reference.Command}
}

// endStores completes what is kept of the run, or leaves it for --resume.
func (op *operation) endStores(err error) error {
	err = errors.Join(err, op.judge.Found.End(err))
	if op.reference != nil {
		err = errors.Join(err, op.reference.End(err))
	}
	return err
}

// begin starts a new run or goes on with an interrupted one, and returns the cases that have to
// run.
func (op *operation) begin(ctx context.Context) (pending []pass.Task, err error) {
	r := op.run
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Drop())
		}
	}()
	if err := op.start(ctx); err != nil {
		return nil, err
	}
	done, err := op.journal.Open(r.Folder, r.Inputs.Cases)
	if err != nil {
		return nil, err
	}
	if pending, err = op.resume(ctx, done); err != nil {
		return nil, errors.Join(op.endStores(err), op.journal.Close())
	}
	return pending, nil
}

// resume takes over the cases that an interrupted run finished, and returns the others.
func (op *operation) resume(ctx context.Context, done *verdict.Finished) (pending []pass.Task, err error) {
	r := op.run
	if !r.Execution.Crew.IsRemote() { // there the preflight detects another tool
		finished := verdict.FinishedCases{
			Judge: op.judge, Numbers: op.numbers(), Done: done, Command: r.Execution.Commands.For,
			Sample: run.NewSample(r, r.Job.Judge.Retries),
		}
		if err := finished.Repeat(ctx, r.Inputs.Tasks()); err != nil {
			return nil, err
		}
	}
	return op.takeFinished(done)
}

// takeFinished opens the stream of verdicts with those of the finished cases, and returns the others.
func (op *operation) takeFinished(done *verdict.Finished) (pending []pass.Task, err error) {
	r := op.run
	var left time.Duration // expected
	for i := range r.Inputs.Cases {
		if !done.Has(i) {
			left += op.recorded.took.Of(i)
		}
	}
	op.reportStart(done.Count, left)
	return op.loop.TakeFinished(r.OrderTasks(op.recorded.took), done)
}

// reportStart begins the reports.
func (op *operation) reportStart(resumed int, left time.Duration) {
	r := op.run
	r.Events.Emit(report.Started{
		Command: r.Job.Name, Run: r.Folder.ID, Corpus: r.Job.Corpus.Path, Folder: r.Inputs.Corpus.Root() != "", Tool: job.CommandLine(&r.Job.Command), Against: op.against(), Cases: len(r.Inputs.Cases), Jobs: r.Width().Jobs,
		Resumed: resumed, Expected: left, Allowed: job.ParseAllowed(&r.Job.Options), At: r.Began,
	})
}

// start brings up the lanes, and finds or makes the run and its stores.
func (op *operation) start(ctx context.Context) error {
	r := op.run
	var err error
	if op.forker, err = newForker(ctx, r, op.golden, op.costs, &op.setup); err != nil {
		return err
	}
	if err := r.Execution.Start(ctx, op.setup); err != nil {
		return err
	}
	op.costs.Start(r.Execution.Executor)
	r.Execution.Executor = op.settler.Decorate(r.Execution.Executor)
	guarded, end := op.watcher.guard(ctx, r.Tool)
	err = run.ObserveTool(guarded, r, op.further()...)
	end()
	if err != nil {
		return err
	}
	if job.ReuseFlag(&r.Job.Store) != "" && op.golden != nil {
		measured, err := op.costs.ChooseCases(r.Inputs.Cases)
		if err != nil {
			return err
		}
		if op.reuse, err = newReuser(ctx, r, op.golden, measured); err != nil {
			return err
		}
	}
	op.forker.begin()
	sum := &r.Ledger.Summary
	sum.ToolChanged, sum.Tool.Same = r.Tool.ChangedSince(op.recorded.meta.Tool)
	id, err := op.identity(ctx)
	if err != nil {
		return err
	}
	maps.Copy(id, r.Execution.Crew.Account().Identity)
	if err := r.Begin(id, op.recorded.digest); err != nil {
		return err
	}
	meta, err := r.Meta(ctx)
	if err != nil {
		return err
	}
	noteOtherPreflight(r.Events, op.recorded.meta, meta)
	warnOtherLimits(r, op.recorded.meta.Limits, meta.Limits)
	if op.reference != nil {
		if op.reference.Store, err = keep.Resume(r.Folder.References(), meta); err != nil {
			return err
		}
	}
	found, err := keep.Resume(r.Folder.Outcomes(), meta)
	if err != nil {
		return err
	}
	found.Sources = r.Inputs.Digests
	op.prepareLoop(found)
	return nil
}

// identity returns what must be the same to resume the run.
func (op *operation) identity(ctx context.Context) (map[string]string, error) {
	id, err := op.run.Identity(ctx)
	if err != nil {
		return nil, err
	}
	id["--golden"] = op.run.Job.Store.Golden // accept writes to it
	if op.reference != nil {
		crew.IdentifyCommand("the reference", op.reference.Command, id)
	} else {
		id["the golden"] = op.recorded.digest.String()
	}
	return id, nil
}

// prepareLoop makes the judge and the loop. The crew runs, and the run has begun.
func (op *operation) prepareLoop(found *keep.Store) {
	r, width := op.run, op.run.Width()
	op.judge = &verdict.Judge{
		Baseline: op.base, Reference: op.reference, Masks: op.recorded.masks, Found: found,
		Rules: r.Job.Rules, Ignored: r.Job.Ignored, Comparer: r.Comparer, Differences: r.Differences,
	}
	op.loop = verdict.New(verdict.Options{
		Judge: op.judge, Cases: r.Inputs.Cases, Numbers: op.numbers(), Due: op.recorded.took,
		FailFast: r.Job.Select.FailFast, AllowNew: slices.Contains(r.Job.Judge.Allow, regress.New.String()),
		Runner: r.Execution.Runner(r.Events.Emit), Goroutines: width.Goroutines, Jobs: width.Jobs, Alone: width.Alone, Settle: op.settler.Settle,
		Journal: &op.journal, Costs: op.costs, Ledger: r.Ledger, Events: r.Events,
		WarnFailing: func() { warnFailing(r) }, Resumed: r.Resumed,
	})
}

// numbers returns how often cases run.
func (op *operation) numbers() verdict.RunNumbers {
	return verdict.RunNumbers{Retries: op.run.Job.Judge.Retries, Identical: op.run.Job.Judge.Runs}
}

// against names what the candidate is compared with.
func (op *operation) against() string {
	if op.reference != nil {
		return name.QuoteAll(op.run.Job.Command.Reference)
	}
	return op.run.Job.Store.Golden
}

// end sums up, whatever happened before. After a run without an error it leaves cases for later checks. If the tool
// changed, no case counts as run.
func (op *operation) end(ctx context.Context, err error, changed bool, cases map[string]reuse.Case) error {
	r, touched := op.run, false
	if err == nil {
		err = r.Inputs.RefuseChanged(func(text string) {
			touched = true
			r.Events.Warn(text)
		})
	}
	if err == nil {
		err = op.addMissing()
	}
	if err == nil {
		warnCommand(r, op.loop)
		err = warnAcceptedElsewhere(r, op.base, op.recorded.meta)
	}
	r.Ledger.NotRun(r.Inputs.Cases, func(i int) bool { return !changed && op.loop.IsDecided(i) })
	if err == nil {
		op.reuse.write(ctx, cases, touched)
	}
	err = r.Finish(err)
	if r.Ledger.Summary.Interrupted {
		return fault.Interruptedf("%s; --resume goes on", describeInterrupt(&r.Ledger.Summary, len(r.Inputs.Cases)))
	}
	return err
}

// describeInterrupt says what an interrupted run of a number of cases lacks.
func describeInterrupt(sum *regress.Summary, cases int) string {
	once := sum.Verdicts[regress.DifferedOnce]
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
func (op *operation) addMissing() error {
	r := op.run
	for i, name := range r.Inputs.Lacking {
		old, _, err := op.base.Get(name)
		if err != nil {
			return err
		}
		r.Ledger.Verdict(report.Case{Name: name, Index: len(r.Inputs.Cases) + i, Verdict: regress.Missing, GoldenEnding: &old.Outcome.Ending})
		r.Ledger.Absent++
	}
	return nil
}
