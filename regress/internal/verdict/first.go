package verdict

import (
	"context"
	"time"

	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/keep"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/turns"
)

// firstRuns makes the first runs of cases, and stores the outcomes of those that differ. Several
// goroutines may call its methods.
type firstRuns struct {
	runner pass.Runner
	judge  *Judge
	settle func(caseName string, o *outcome.Outcome)
	costs  *turns.Measurement
}

// compare compares a first run with the golden, and stores it if it is not identical.
func (f *firstRuns) compare(ctx context.Context, t pass.Task, r *exec.Result, err error) firstResult {
	if err != nil {
		return firstResult{err: err}
	}
	defer r.Release()
	got := firstResult{ending: r.Outcome.Ending, cost: r.Cost, lane: r.Lane, onEngine: r.Engine, reused: r.Reused, forked: r.Forked, silent: r.Outcome.IsSilent()}
	l, left, err := f.judge.Compare(t.Entry.Name, r)
	got.identical, got.left, got.err = l == keep.Alike, left, err
	if err == nil && l != keep.Alike {
		got.err = f.judge.Found.Put(ctx, t.Entry.Name, r, l)
	}
	return got
}

// runBesideRival runs the candidate on a case, and its rival beside it.
func (f *firstRuns) runBesideRival(ctx context.Context, t pass.Task) (got firstResult) {
	both := f.costs.RunBoth(ctx, t, 1, t.Index%2, func(r *exec.Result, err error) {
		if err == nil {
			f.settle(t.Entry.Name, &r.Outcome)
		}
		got = f.compare(ctx, t, r, err)
	})
	if got.err == nil {
		got.err = both.Err(turns.NewRun)
	}
	got.beside = &both
	return got
}

// runBesideReference runs the reference and the candidate on a case. They take turns to go first,
// so that neither always has the warmer caches. Both runs are stored if they are not identical.
func (f *firstRuns) runBesideReference(ctx context.Context, t pass.Task) firstResult {
	commands := [2]*exec.Command{f.judge.Reference.Command, f.runner.Command(t.Entry.Name)}
	same := commands[0].Same(commands[1])
	var results [2]*exec.Result
	avoid := exec.NoLane
	for n := range commands {
		i := (n + t.Index) % 2
		r, err := f.runner.RunOnce(ctx, t, commands[i], 1, avoid, same && n > 0) // else one run would be compared with itself
		if err != nil {
			return firstResult{err: err}
		}
		defer r.Release()
		results[i], avoid = r, r.Lane
	}
	return f.comparePair(ctx, t, results[0], results[1])
}

// comparePair compares a run of the candidate with one of the reference, and stores both if they
// are not identical.
func (f *firstRuns) comparePair(ctx context.Context, t pass.Task, ref, now *exec.Result) firstResult {
	got := firstResult{ending: now.Outcome.Ending, cost: now.Cost, lane: now.Lane, onEngine: now.Engine, beside: &turns.Turn{}, silent: now.Outcome.IsSilent()}
	got.beside.Record(turns.OldRun, ref, nil)
	got.beside.Record(turns.NewRun, now, nil)
	l, err := keep.Compare(&ref.Outcome, &now.Outcome, f.judge.Comparer.Same(ref.Open, now.Open))
	if err != nil {
		return firstResult{err: err}
	}
	left, err := content.UncomparedIn(nil, content.Side{Outcome: &ref.Outcome, Open: ref.Open}) // one run: nothing varies
	if err != nil {
		return firstResult{err: err}
	}
	if got.identical, got.left = l == keep.Alike, left.With(&now.Outcome); !got.identical {
		got.err = f.judge.Reference.Put(ctx, t.Entry.Name, ref, keep.Unmatched)
		if got.err == nil {
			got.err = f.judge.Found.Put(ctx, t.Entry.Name, now, l)
		}
	}
	return got
}

// furtherRuns makes the runs of cases after their first ones. Several goroutines may call its
// methods.
type furtherRuns struct {
	runner  pass.Runner
	judge   *Judge
	numbers RunNumbers
	emit    func(report.Event)
}

// judgement is the verdict on a case after its further runs.
type judgement struct {
	err    error
	judged report.Case
	cpu    time.Duration // of the further runs
}

// run makes the further runs of a case, and then judges the case.
func (f *furtherRuns) run(ctx context.Context, u undecidedCase) (j judgement) {
	series := runSeries{all: f, first: u, avoid: u.lane}
	if u.line.Identical {
		series.equal = 1
	}
	if j.err = series.run(ctx); j.err != nil {
		return j
	}
	j.cpu = series.cpu
	var decided bool
	if j.judged, decided, j.err = f.judge.decide(u.task); !decided && u.line.Identical && j.err == nil {
		var first firstResult
		first, j.err = f.judge.identicalResult(u.task.Entry.Name, u.line)
		j.judged = first.identicalCase()
	}
	j.judged.Engine, j.judged.Reused = u.line.Engine, u.line.Reused && !series.ran
	j.judged.Ignored = content.Union(j.judged.Ignored, series.left.Ignored)
	return j
}

// runSeries is the series of further runs of one case.
type runSeries struct {
	all   *furtherRuns
	first undecidedCase
	avoid int // the lane of the run before
	equal int // runs that equalled the baseline before the first one that is stored
	cpu   time.Duration
	ran   bool               // a run was really made
	left  content.Uncompared // in these runs
}

// run makes the runs, each on another lane than the one before. It merges them into the
// stored record of the case.
func (s *runSeries) run(ctx context.Context) error {
	judge, name := s.all.judge, s.first.task.Entry.Name
	for number := 2; number <= s.all.numbers.of(s.first.line.Identical); number++ {
		if judge.Reference != nil {
			if err := s.runReference(ctx, judge.Reference, number); err != nil {
				return err
			}
		}
		rec, _, err := judge.Found.Get(name)
		if err != nil {
			return err
		}
		if rec.Runs >= number {
			continue // an interrupted run made it
		}
		if err := s.runOnce(ctx, s.all.runner.Command(name), number, s.compare); err != nil {
			return err
		}
	}
	return nil
}

// runOnce makes one run and hands it to take.
func (s *runSeries) runOnce(ctx context.Context, c *exec.Command, number int, take func(context.Context, *exec.Result) error) error {
	t := s.first.task
	r, err := s.all.runner.RunOnce(ctx, t, c, number, s.avoid, true)
	if err != nil {
		return err
	}
	defer r.Release()
	ran := report.CaseRan{Name: t.Entry.Name, Pass: number, Engine: r.Engine, Reused: r.Reused, At: time.Now()}
	if !r.Reused {
		ran.CPU, ran.Wall = r.Cost.CPU, r.Cost.Wall
		s.ran = true
	}
	s.all.emit(ran)
	s.cpu += ran.CPU
	s.avoid = r.Lane
	return take(ctx, r)
}

// compare compares a run with the baseline. It stores the run unless all runs so far equal the
// baseline.
func (s *runSeries) compare(ctx context.Context, r *exec.Result) error {
	judge, name := s.all.judge, s.first.task.Entry.Name
	l, left, err := judge.Compare(name, r)
	if err != nil {
		return err
	}
	s.left.Ignored = content.Union(s.left.Ignored, left.Ignored)
	_, stored, err := judge.Found.Get(name)
	switch {
	case err != nil:
		return err
	case stored:
		return judge.Found.Merge(ctx, name, r, l, judge.Comparer.Same)
	case l == keep.Alike:
		s.equal++
		return nil
	case s.equal == 0:
		return judge.Found.Put(ctx, name, r, l)
	}
	old, _, err := judge.Baseline.Get(name)
	if err != nil {
		return err
	}
	return judge.Found.PutAfter(ctx, keep.FirstRecord(name, r, l), r.Open, s.equal, keep.Equalled{Outcome: &old.Outcome, Open: judge.Baseline.Content, Same: judge.Comparer.Same})
}

func (s *runSeries) runReference(ctx context.Context, reference *Reference, number int) error {
	name := s.first.task.Entry.Name
	if rec, _, err := reference.Get(name); err != nil || rec.Runs >= number {
		return err
	}
	return s.runOnce(ctx, reference.Command, number, func(ctx context.Context, r *exec.Result) error {
		return reference.Merge(ctx, name, r, keep.Unmatched, s.all.judge.Comparer.Same)
	})
}
