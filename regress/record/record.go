// Package record runs the trusted command over every case, several times, and records the outcomes
// in a new golden. Parts that differ between the runs of a case become flaky.
//
// In go raw options and a host; out come the golden, the reports and a summary. An interrupted
// record can be resumed. The package must not compare with an earlier golden.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"muster/internal/readable"
	"muster/regress/host"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/keep"
	"muster/regress/internal/opt"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// recording is a record under way.
type recording struct {
	run      *run.Run
	into     place.Target
	writer   *golden.Writer
	lanes    []int                      // of the last run of each case, by index
	took     pass.Durations             // by that run, before the first one by the old golden's, by index
	due      pass.Durations             // expected durations in the present pass, complete
	had      []runsBefore               // by index
	onEngine map[int]*outcome.EngineRun // what an engine said of the first run, by index
	failed   map[int]error              // cases for which the machine failed
	done     map[int]bool               // cases that have all their runs
	failing  []int                      // of them those that did not exit with 0, by index

	ran       int  // first runs of cases
	hasPassed bool // one of them exited with 0

	varies     string      // an example of two runs that differ, "" = none
	hasExample atomic.Bool // varies is known or will be
}

// runsBefore is what the next run of a case needs to know of those before, unless it
// differs: to ask the golden for it would wait for all that is being written.
type runsBefore struct {
	runs   int            // that are in the new golden
	digest outcome.Digest // of the outcome there; zero where the golden must be asked
	cost   outcome.Cost   // of the first run
}

func runsIn(r *golden.Record) runsBefore {
	h := runsBefore{runs: r.Runs, cost: r.Cost}
	if !r.Outcome.Ending.Partial() {
		h.digest = r.Outcome.Digest()
	}
	return h
}

// Run runs the trusted command over the corpus, every case as often as
// o.Judge.Repeat says, and writes the golden: beside its name first, renamed
// over it when it is complete. If every case fails it writes none, unless
// o.Judge.AllowFailures.
func Run(ctx context.Context, o opt.Options, h host.Host) (sum report.Summary, err error) {
	into, err := place.FindTarget(ctx, o.Store.Golden, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return sum, err
	}
	defer into.Close()
	j, err := job.Resolve(o, nil, report.RecordCommand)
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
	if err := s.IdentifyTool(); err != nil {
		return sum, err
	}
	r := &recording{run: s, into: into, onEngine: map[int]*outcome.EngineRun{}, failed: map[int]error{}, done: map[int]bool{}}
	if err := r.lookAtOld(ctx); err != nil {
		return sum, err
	}
	return r.record(ctx)
}

// lookAtOld refuses a selection that would drop cases from an existing golden, and
// takes over from that how long cases took.
func (r *recording) lookAtOld(ctx context.Context) error {
	r.took = make(pass.Durations, len(r.run.Inputs.Cases))
	old, err := r.into.Open(ctx)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case fault.ClassOf(err) == fault.Input:
		r.run.Events.Warn(fmt.Sprintf("%v: it will be replaced", err)) // damaged, or empty
		return nil
	case err != nil:
		return err
	}
	defer old.Close()
	r.took = r.run.Inputs.Durations(old.Wall)
	selected := make(map[string]bool, len(r.run.Inputs.Cases))
	for _, e := range r.run.Inputs.Cases {
		selected[e.Name] = true
	}
	lost := 0
	for _, e := range r.run.Inputs.Corpus.Cases() {
		if _, known := old.OutcomeDigest(e.Name); known && !selected[e.Name] {
			lost++
		}
	}
	if lost > 0 {
		return fault.Inputf("%s has %s that this selection leaves out, and recording would drop: name another --golden, or record without a selection", r.run.Job.Store.Golden, readable.Cases(lost))
	}
	return nil
}

func (r *recording) record(ctx context.Context) (report.Summary, error) {
	if err := r.begin(ctx); err != nil {
		return r.run.Ledger.Summary, err
	}
	watching, watched := r.run.Tool.Watch(ctx, r.run.Events.Warn)
	err := r.passes(watching)
	err = r.end(ctx, watched(err))
	return r.run.Ledger.Summary, err
}

// begin opens the new golden, or the one that --resume goes on with.
func (r *recording) begin(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, r.run.Drop())
		}
	}()
	id, err := r.run.Identity(ctx)
	if err != nil {
		return err
	}
	id["--repeat"] = fmt.Sprint(r.run.Job.Judge.Repeat)
	id["--golden"] = r.run.Job.Store.Golden
	r.into.Identify(id)
	if err := r.run.Execution.Start(ctx, r.run.Setup()); err != nil {
		return err
	}
	maps.Copy(id, r.run.Execution.Crew.Identity())
	if err := r.run.Begin(id, outcome.Digest{}); err != nil {
		return err
	}
	if err := r.openWriter(ctx); err != nil {
		return err
	}
	r.lanes = make([]int, len(r.run.Inputs.Cases))
	for i := range r.lanes {
		r.lanes[i] = exec.NoLane
	}
	r.had = make([]runsBefore, len(r.run.Inputs.Cases))
	rest, err := r.rest()
	if err == nil {
		err = r.repeatFinished(ctx)
	}
	if err != nil {
		return errors.Join(err, r.writer.Abort(true))
	}
	r.due = r.took.Complete()
	r.run.Events.Emit(report.Started{
		Command: r.run.Job.Name, Run: r.run.Folder.ID, Corpus: r.run.Job.Corpus.Path, Tool: job.CommandLine(&r.run.Job.Command), Cases: len(r.run.Inputs.Cases), Jobs: r.run.Width().Jobs,
		Resumed: len(r.run.Inputs.Cases) - len(rest), Expected: r.due.Sum(rest), At: r.run.Began,
	})
	return nil
}

// rest lists the cases that the first pass runs: all, or those of which the run
// that is resumed has nothing. Of the others it notes how many runs they had.
func (r *recording) rest() ([]pass.Task, error) {
	all := r.run.Inputs.Tasks()
	if !r.run.Resumed {
		return all, nil
	}
	rest := all[:0]
	for _, t := range all {
		rec, known, err := r.writer.Get(t.Entry.Name)
		if err != nil {
			return nil, err
		}
		if r.had[t.Index].runs = rec.Runs; !known {
			rest = append(rest, t)
		}
	}
	return rest, nil
}

// openWriter begins the new golden, or goes on with what the run that is
// resumed has of it. The part of any other run is given up.
func (r *recording) openWriter(ctx context.Context) error {
	m, err := r.run.Meta(ctx)
	if err != nil {
		return err
	}
	if r.run.Resumed {
		if err := r.into.Reopen(r.run.Folder.ID); err != nil {
			return err
		}
		w, err := golden.Resume(r.into.Path())
		switch {
		case err == nil && w.Meta().Run == r.run.Folder.ID:
			r.writer = w
			return nil
		case err == nil:
			if err := w.Abort(true); err != nil {
				return err
			}
			r.run.Events.Warn(fmt.Sprintf("--resume: another run has begun %s since: this one begins again", r.run.Job.Store.Golden))
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
	}
	m.Selection = job.KeptSelection(&r.run.Job.Select)
	if r.writer, err = golden.Create(r.into.Path(), m); err != nil {
		return err
	}
	if err := r.writer.PutShared(r.run.Inputs.Digests.Shared()); err != nil {
		return errors.Join(err, r.writer.Abort(false))
	}
	return nil
}

// passes runs every case until it has its number of runs. The passes are apart
// in time, so that what depends on the clock shows.
func (r *recording) passes(ctx context.Context) error {
	for pass := 1; pass <= r.run.Job.Judge.Repeat; pass++ {
		if pass == 2 {
			if ends, err := r.failsSoFar(); err != nil || ends {
				return err
			}
		}
		tasks, err := r.toRun(pass)
		if err != nil {
			return err
		}
		if pass > 1 {
			r.due = r.took.Complete()
			r.run.Events.Emit(report.PassStarted{Pass: pass, Runs: len(tasks), Expected: r.due.Sum(tasks), At: time.Now()})
		}
		if err := r.runPass(ctx, tasks, pass); err != nil {
			return err
		}
	}
	return nil
}

// toRun lists the cases that have had fewer runs than number.
func (r *recording) toRun(number int) ([]pass.Task, error) {
	var tasks []pass.Task
	for _, t := range r.run.OrderTasks(r.took) {
		switch runs := r.had[t.Index].runs; {
		case r.failed[t.Index] != nil || r.done[t.Index]:
		case runs >= r.run.Job.Judge.Repeat: // before an interruption
			rec, _, err := r.writer.Get(t.Entry.Name)
			if err != nil {
				return nil, err
			}
			r.conclude(t, rec)
		case runs < number:
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// recordRan is what came of one run of a case, as ran is for a check.
type recordRan struct {
	err      error
	pass     int
	lane     int
	cost     outcome.Cost
	onEngine *outcome.EngineRun
	differ   bool
	example  string // how the run differs, of the first that shows it
	record   golden.Record
	had      runsBefore // for the next one
}

// runPass runs the tasks once, each on another lane than before.
func (r *recording) runPass(ctx context.Context, tasks []pass.Task, number int) error {
	before := slices.Clone(r.lanes)
	return pass.Batched[recordRan]{
		Goroutines: r.run.Width().Goroutines, Alone: r.run.Width().Alone, Due: r.due, RunTasks: r.run.Execution.Runner(r.run.Events.Emit).RunTasks(number),
		Avoid: func(t pass.Task) int { return before[t.Index] }, Take: r.take,
		Look: func(ctx context.Context, t pass.Task, res *exec.Result, err error) recordRan {
			return r.look(ctx, t, number, res, err)
		},
	}.Run(ctx, tasks)
}

func (r *recording) look(ctx context.Context, t pass.Task, pass int, res *exec.Result, err error) recordRan {
	if err != nil {
		return recordRan{err: err}
	}
	defer res.Release()
	got := recordRan{pass: pass, lane: res.Lane, cost: res.Cost, onEngine: res.Engine}
	got.record = golden.Record{Name: t.Entry.Name, Outcome: res.Outcome, Cost: res.Cost, Runs: 1, Source: r.run.Inputs.Digests.Case(t.Entry.Name)}
	switch had := r.had[t.Index]; {
	case pass == 1:
		got.err = r.writer.Put(ctx, got.record, res.Open)
	case had.digest == res.Outcome.Digest():
		got.record.Cost, got.record.Runs = had.cost, had.runs+1
		got.err = r.writer.Put(ctx, got.record, res.Open)
	default:
		got.err = r.lookAgain(ctx, t, &got, res)
	}
	got.had = runsIn(&got.record)
	return got
}

// lookAgain takes a run of a case that differs from those before into its record.
func (r *recording) lookAgain(ctx context.Context, t pass.Task, got *recordRan, res *exec.Result) (err error) {
	if got.record, _, err = r.writer.Get(t.Entry.Name); err != nil {
		return err
	}
	if r.hasExample.CompareAndSwap(false, true) {
		if got.example, err = r.example(&got.record, res); err != nil {
			return err
		}
		r.hasExample.Store(got.example != "")
	}
	got.record.Runs++
	got.differ, err = keep.MergeRun(ctx, r.writer, &got.record, res, r.run.Comparer.Same)
	return err
}

// take notes what came of a run.
func (r *recording) take(t pass.Task, got recordRan) error {
	if got.err != nil {
		return r.takeError(t, got.err)
	}
	r.run.Events.Emit(report.CaseRan{Name: t.Entry.Name, Pass: got.pass, Differs: got.differ, CPU: got.cost.CPU, Wall: got.cost.Wall, Expected: r.due.Of(t.Index), Engine: got.onEngine, At: time.Now()})
	r.run.Ledger.Summary.CPU += got.cost.CPU
	if got.onEngine != nil && got.pass == 1 {
		r.onEngine[t.Index] = got.onEngine
	}
	if got.differ {
		r.varies = cmp.Or(r.varies, got.example)
	}
	if got.pass == 1 {
		if err := r.noteFirstRun(&got.record); err != nil {
			return err
		}
	}
	r.lanes[t.Index] = got.lane
	r.took[t.Index] = got.cost.Wall
	r.had[t.Index] = got.had
	if got.record.Runs >= r.run.Job.Judge.Repeat {
		r.conclude(t, got.record)
	}
	return nil
}

func (r *recording) takeError(t pass.Task, err error) error {
	if fault.ClassOf(err) == fault.Environment {
		r.failed[t.Index] = err
	}
	return r.run.Ledger.MachineFailed(t, err)
}

// conclude counts a case that has all its runs.
func (r *recording) conclude(t pass.Task, rec golden.Record) {
	r.done[t.Index] = true
	r.run.Ledger.Summary.Recorded++
	r.run.Ledger.Summary.Endings.Add(rec.Outcome.Ending)
	if !rec.Outcome.Ending.Success() {
		r.failing = append(r.failing, t.Index)
	}
	word := report.Case{
		Name: t.Entry.Name, Index: t.Index, Verdict: outcome.Identical,
		Ending: &rec.Outcome.Ending, Cost: rec.Cost, Flaky: content.FlakyParts(&rec.Outcome), Engine: r.onEngine[t.Index],
	}
	word.Masked, word.Ignored = content.MaskedParts(&rec.Outcome), content.IgnoredParts(&rec.Outcome)
	if len(word.Flaky) > 0 {
		word.Verdict = outcome.Flaky
	}
	r.run.Ledger.Verdict(word)
}

// end completes the golden, or keeps what is done for --resume.
func (r *recording) end(ctx context.Context, err error) error {
	if err == nil {
		err = r.run.Inputs.RefuseChanged(r.run.Events.Warn)
	}
	if err == nil && len(r.failed) > 0 {
		first := r.failed[slices.Min(slices.Collect(maps.Keys(r.failed)))]
		err = fault.Environmentf("%s failed because of the machine: %s is as it was, what ran is kept; --resume goes on; the first: %w", readable.Cases(len(r.failed)), r.run.Job.Store.Golden, first)
	}
	if err == nil {
		r.warnVarying()
		err = r.nameFailing()
	}
	switch {
	case err != nil:
		err = errors.Join(err, r.writer.Abort(true))
	case r.refused():
		r.run.Ledger.Summary.Recorded = 0
		err = r.writer.Abort(false)
	default:
		if err = r.writer.Finish(); err == nil {
			err = r.into.Publish(ctx, "muster record --resume sends it")
		}
	}
	r.run.Ledger.NotRun(r.run.Inputs.Cases, func(i int) bool { return r.done[i] || r.had[i].runs > 0 || r.failed[i] != nil })
	if err != nil {
		r.run.Ledger.Summary.Recorded = r.kept()
	}
	err = r.run.Finish(err)
	if r.run.Ledger.Summary.Interrupted {
		return fault.Interruptedf("interrupted: runs of %s of %s are kept, %s is as it was%s",
			readable.Number(r.run.Ledger.Summary.Recorded), readable.Cases(len(r.run.Inputs.Cases)), r.run.Job.Store.Golden, run.HintResume(&r.run.Ledger.Summary))
	}
	return err
}

// kept counts the cases of which --resume has a run.
func (r *recording) kept() (n int) {
	for _, h := range r.had {
		if h.runs > 0 {
			n++
		}
	}
	return n
}
