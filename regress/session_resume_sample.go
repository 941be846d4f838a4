package regress

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// A resumed run repeats one in samplePart of the finished cases, and at least sampleMin.
// muster guesses the files of the tool, so a changed tool may have the same files. The
// sample detects that.
const (
	samplePart = 100 // 1 %
	sampleMin  = 3
)

// sampleNamesMax bounds the cases that an error names.
const sampleNamesMax = 10

// expectation is the outcome that a command gave for a finished case.
type expectation struct {
	task    task
	command *exec.Command
	was     outcome.Outcome
	open    opener
	// stable reports that the outcome does not vary. Otherwise a part may differ if it also
	// varies among the new runs.
	stable bool
	// keep adds a new run to what the run that is resumed has of the case.
	keep func(context.Context, *exec.Result) error
}

// sampleOf picks tasks at random.
func sampleOf(finished []task) []task {
	n := max(sampleMin, (len(finished)+samplePart-1)/samplePart)
	picked := slices.Clone(finished)
	rand.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:min(n, len(picked))]
}

// newRuns are the runs of a finished case that show that it varies.
type newRuns struct {
	results []*exec.Result
	keep    func(context.Context, *exec.Result) error // nil if they are only to be released
}

func (n *newRuns) release() {
	for _, r := range n.results {
		r.Release()
	}
}

// repeatSample runs a sample of the finished cases again. It refuses to resume the run if
// look finds another outcome for one of them. If it does not refuse, it keeps the runs that
// look returns. On an engine it does nothing: the preflight detects another tool.
func (s *session) repeatSample(ctx context.Context, finished []task, retries int, look func(context.Context, task) ([]newRuns, bool, error)) error {
	if len(finished) == 0 || s.engine != nil {
		return nil
	}
	sample := sampleOf(finished)
	s.note(fmt.Sprintf("--resume: %s of %s run again, to check that the tool is the same", readable.Number(len(sample)), readable.Count(len(finished), "finished case")))
	var mu sync.Mutex
	var others []string // cases with another outcome
	var varied []newRuns
	defer func() {
		for i := range varied {
			varied[i].release()
		}
	}()
	err := forEach(ctx, s.goroutines(), sample, func(handing context.Context, t task) error {
		if handing.Err() != nil {
			return nil
		}
		runs, same, err := look(ctx, t) // a lane dies with the context of its last run: handing ends here
		mu.Lock()
		defer mu.Unlock()
		varied = append(varied, runs...)
		if err == nil && !same {
			others = append(others, t.entry.Name)
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fault.Interruptedf("interrupted while finished cases ran again: the run is as it was; --resume goes on")
	case err != nil:
		return err
	case len(others) > 0:
		return refuseOtherOutcomes(others, s.run.ID, retries)
	}
	for _, runs := range varied {
		if runs.keep == nil {
			continue
		}
		for _, r := range runs.results {
			if err := runs.keep(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func refuseOtherOutcomes(names []string, run string, retries int) error {
	slices.Sort(names)
	return fault.Inputf("--resume: something that the tool depends on changed since run %s: another outcome in %s (%s each): run without --resume", run, listed(names, sampleNamesMax), readable.Count(1+retries, "run"))
}

// meets reports whether a command still gives the expected outcome. One of the new runs must
// give it, or all differences must lie in parts that vary among the new runs. meets returns
// the new runs unless the first gives the expected outcome.
func (s *session) meets(ctx context.Context, e expectation, retries int) (runs newRuns, same bool, err error) {
	runs.keep = e.keep
	var seen outcome.Outcome // by the new runs together
	var open opener
	for n := range 1 + retries {
		r, err := s.runUnjudged(ctx, e.task, e.command)
		if err != nil {
			return runs, false, err
		}
		runs.results = append(runs.results, r)
		cmp, err := outcome.Compare(&e.was, &r.Outcome, s.same(e.open, r.Open))
		if err != nil {
			return runs, false, err
		}
		if cmp.Identical() {
			if n == 0 {
				runs.release()
				runs.results = nil
			}
			return runs, true, nil
		}
		if n == 0 {
			seen, open = r.Outcome, r.Open
			continue
		}
		merged, err := outcome.Merge(&seen, &r.Outcome, s.same(open, r.Open))
		if err != nil {
			return runs, false, err
		}
		if merged == outcome.Replaced {
			open = r.Open
		}
	}
	if e.stable {
		return runs, false, nil
	}
	cmp, err := outcome.Compare(&e.was, &seen, s.same(e.open, open))
	return runs, cmp.Identical(), err
}

// runUnjudged runs a case without giving it a verdict.
func (s *session) runUnjudged(ctx context.Context, t task, c *exec.Command) (*exec.Result, error) {
	r, err := s.crew.Run(ctx, exec.Job{Source: *t.entry, Command: c, Avoid: exec.NoLane, Fresh: true})
	if err == nil {
		s.settling.settle(t.entry.Name, &r.Outcome)
	}
	return r, blamed(ctx, err)
}
