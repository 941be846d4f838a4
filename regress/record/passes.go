package record

import (
	"cmp"
	"context"
	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"time"
)

// passes runs every case several times and writes the golden.
type passes struct {
	run     *run.Run
	writer  *golden.Writer
	cases   *cases
	failing failures
	varying variation
}

// runAll runs every case until it has its number of runs.
func (p *passes) runAll(ctx context.Context) error {
	for number := 1; number <= max(p.run.Job.Judge.Repeat, runsOfWide); number++ {
		if number > 1 && p.cases.areEnded() {
			return nil
		}
		if number == 2 {
			if ends, err := p.failsSoFar(); err != nil || ends {
				return err
			}
		}
		tasks, err := p.toRun(number)
		if err != nil {
			return err
		}
		if number > 1 && len(tasks) == 0 {
			continue
		}
		if number > 1 {
			p.cases.due = p.cases.took.Complete()
			p.run.Events.Emit(report.PassStarted{Pass: number, Runs: len(tasks), Expected: p.cases.due.Sum(tasks), At: time.Now()})
		}
		if err := p.runPass(ctx, tasks, number); err != nil {
			return err
		}
	}
	return nil
}

// toRun lists the cases that have had fewer runs than number.
func (p *passes) toRun(number int) ([]pass.Task, error) {
	all := p.run.OrderTasks(p.cases.took)
	tasks := all[:0]
	for _, t := range all {
		switch had := p.cases.before(t.Index); {
		case p.cases.failed[t.Index] != nil || p.cases.done[t.Index]:
		case !had.lacks(p.run.Job.Judge.Repeat): // before an interruption
			rec, _, err := p.writer.Get(t.Entry.Name)
			if err != nil {
				return nil, err
			}
			if err := p.conclude(t, rec, nil); err != nil {
				return nil, err
			}
		case had.runs < number:
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// ranCase is the result of one run of a case.
type ranCase struct {
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
func (p *passes) runPass(ctx context.Context, tasks []pass.Task, number int) error {
	return pass.Batched[ranCase]{
		Goroutines: p.run.Width().Goroutines, Alone: p.run.Width().Alone, Due: p.cases.due, RunTasks: p.tasksRunner(number),
		Avoid: func(t pass.Task) int { return p.cases.lanes[t.Index] }, Receive: p.count,
		Examine: func(ctx context.Context, t pass.Task, res *exec.Result, err error) ranCase {
			return p.keep(ctx, t, number, res, err)
		},
	}.Run(ctx, tasks)
}

// runTasks runs tasks in order on one lane: see pass.Batched.
type runTasks func(ctx context.Context, tasks []pass.Task, avoid int, ended func(pass.Task, *exec.Result, error)) int

// tasksRunner returns the function that runs tasks of a pass. The first two runs of a case are apart
// in time, so that what depends on the clock shows. A lane waits for that only if the first run of
// one of its next cases was less than --repeat-after ago. In a long pass none was.
func (p *passes) tasksRunner(number int) runTasks {
	run := p.run.Execution.Runner(p.run.Events.Emit).RunTasks(number)
	if number != 2 {
		return run
	}
	return func(ctx context.Context, tasks []pass.Task, avoid int, ended func(pass.Task, *exec.Result, error)) int {
		select {
		case <-time.After(p.cases.untilSecond(tasks, p.run.Job.Judge.RepeatAfter) - time.Since(p.run.Began)):
		case <-ctx.Done():
		}
		return run(ctx, tasks, avoid, ended)
	}
}

// keep puts a run of a case into the golden.
func (p *passes) keep(ctx context.Context, t pass.Task, pass int, res *exec.Result, err error) ranCase {
	if err != nil {
		return ranCase{err: err}
	}
	defer res.Release()
	got := ranCase{pass: pass, lane: res.Lane, cost: res.Cost, onEngine: res.Engine}
	got.record = golden.Record{Name: t.Entry.Name, Outcome: res.Outcome, Cost: res.Cost, Runs: 1, Source: p.run.Inputs.Digests.Case(t.Entry.Name)}
	switch had := p.cases.before(t.Index); {
	case pass == 1:
		got.err = p.writer.Put(ctx, got.record, res.Open)
	case had.digest == res.Outcome.Digest():
		got.record.Cost, got.record.Runs = had.cost, had.runs+1
		got.err = p.writer.Put(ctx, got.record, res.Open)
	default:
		got.err = p.merge(ctx, t, &got, res)
	}
	got.had = runsIn(&got.record)
	if got.err == nil {
		got.had.isWide, got.err = hasWideHoles(&p.run.Job, p.run.Comparer, p.writer, &got.record)
	}
	return got
}

// merge adds a run that differs from those before to the record of its case.
func (p *passes) merge(ctx context.Context, t pass.Task, got *ranCase, res *exec.Result) (err error) {
	if got.record, _, err = p.writer.Get(t.Entry.Name); err != nil {
		return err
	}
	if got.example, err = p.varying.find(p.writer, p.run.Job.Rules, &got.record, res); err != nil {
		return err
	}
	got.record.Runs++
	got.differ, err = keep.MergeRun(ctx, p.writer, &got.record, res, p.run.Comparer.Same)
	return err
}

// count counts a run of a case.
func (p *passes) count(t pass.Task, got ranCase) error {
	if got.err != nil {
		return p.countError(t, got.err)
	}
	p.run.Events.Emit(report.CaseRan{Name: t.Entry.Name, Pass: got.pass, Differs: got.differ, CPU: got.cost.CPU, Wall: got.cost.Wall, Expected: p.cases.due.Of(t.Index), Engine: got.onEngine, At: time.Now()})
	p.run.Ledger.Summary.CPU += got.cost.CPU
	if got.differ {
		p.varying.example = cmp.Or(p.varying.example, got.example)
	}
	if got.pass == 1 {
		p.cases.firstEnded[t.Index] = time.Since(p.run.Began)
		if err := p.failing.noteFirst(&got.record); err != nil {
			return err
		}
	}
	p.cases.lanes[t.Index] = got.lane
	p.cases.took[t.Index] = got.cost.Wall
	if !got.had.lacks(p.run.Job.Judge.Repeat) {
		return p.conclude(t, got.record, got.onEngine)
	}
	p.cases.had[t.Index] = got.had
	return nil
}

func (p *passes) countError(t pass.Task, err error) error {
	if regress.ClassOf(err) == regress.Environment {
		p.cases.failed[t.Index] = err
	}
	return p.run.Ledger.EnvironmentFailed(t, err)
}

// conclude counts a case that has all its runs. last is an engine's account of the last one, or nil.
func (p *passes) conclude(t pass.Task, rec golden.Record, last *outcome.EngineRun) error {
	p.cases.done[t.Index] = true
	p.run.Ledger.Summary.Recorded++
	p.run.Ledger.Summary.Endings.Add(rec.Outcome.Ending)
	if !rec.Outcome.Ending.Success() {
		p.failing.cases = append(p.failing.cases, t.Index)
	}
	if rec.Outcome.IsSilent() {
		p.run.Ledger.Silent++
	}
	word := report.Case{
		Name: t.Entry.Name, Index: t.Index, Verdict: regress.Identical,
		Ending: &rec.Outcome.Ending, Cost: rec.Cost, Flaky: content.FlakyParts(&rec.Outcome), Engine: last,
	}
	side := content.NewSide(&rec.Outcome, keep.ContentsIn(p.writer))
	left, err := content.UncomparedIn(p.run.Job.Rules, side)
	if err == nil {
		err = p.varying.suggest(p.run.Job.Rules, side)
	}
	if err != nil {
		return err
	}
	word.Masked, word.Ignored, word.Holes = left.Masked, left.Ignored, left.Holes
	if len(word.Flaky) > 0 {
		word.Verdict = regress.Flaky
	}
	p.run.Ledger.Verdict(word)
	return nil
}

// failsSoFar reports whether the record is refused after the first run of each case: every case
// fails. It concludes them, for further runs change nothing.
func (p *passes) failsSoFar() (bool, error) {
	if p.run.Job.Judge.AllowFailures {
		return false, nil
	}
	for _, e := range p.run.Inputs.Cases {
		rec, known, err := p.writer.Get(e.Name)
		if err != nil || !known || rec.Outcome.Ending.Success() {
			return false, err
		}
	}
	for _, t := range p.run.Inputs.Tasks() {
		if p.cases.done[t.Index] {
			continue
		}
		rec, _, err := p.writer.Get(t.Entry.Name) // read again, because a list of all records would be long
		if err == nil {
			err = p.conclude(t, rec, nil)
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}
