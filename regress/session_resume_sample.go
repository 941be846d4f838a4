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
}

// sampleOf picks tasks at random.
func sampleOf(finished []task) []task {
	n := max(sampleMin, (len(finished)+samplePart-1)/samplePart)
	picked := slices.Clone(finished)
	rand.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:min(n, len(picked))]
}

// repeatSample runs a sample of the finished cases again. It refuses to resume the run if
// same returns false for one of them. On an engine it does nothing: the preflight detects
// another tool.
func (s *session) repeatSample(ctx context.Context, finished []task, retries int, same func(context.Context, task) (bool, error)) error {
	if len(finished) == 0 || s.engine != nil {
		return nil
	}
	sample := sampleOf(finished)
	s.note(fmt.Sprintf("--resume: %s of %s run again, to check that the tool is the same", readable.Number(len(sample)), readable.Count(len(finished), "finished case")))
	var mu sync.Mutex
	var others []string // cases with another outcome
	err := forEach(ctx, s.goroutines(), sample, func(handing context.Context, t task) error {
		if handing.Err() != nil {
			return nil
		}
		ok, err := same(ctx, t) // a lane dies with the context of its last run: handing ends here
		if err == nil && !ok {
			mu.Lock()
			defer mu.Unlock()
			others = append(others, t.entry.Name)
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fault.Interruptedf("interrupted while finished cases ran again: the run is as it was; --resume goes on")
	case err != nil:
		return err
	case len(others) == 0:
		return nil
	}
	return refuseOtherOutcomes(others, s.run.ID, retries)
}

func refuseOtherOutcomes(names []string, run string, retries int) error {
	slices.Sort(names)
	return fault.Inputf("--resume: something that the tool depends on changed since run %s: another outcome in %s (%s each): run without --resume", run, listed(names, sampleNamesMax), readable.Count(1+retries, "run"))
}

// meets reports whether a command still gives the expected outcome. One of the new runs must
// give it, or all differences must lie in parts that vary among the new runs.
func (s *session) meets(ctx context.Context, e expectation, retries int) (bool, error) {
	var seen outcome.Outcome // by the new runs together
	var open opener
	for n := range 1 + retries {
		r, err := s.runUnjudged(ctx, e.task, e.command)
		if err != nil {
			return false, err
		}
		defer r.Release()
		cmp, err := outcome.Compare(&e.was, &r.Outcome, s.same(e.open, r.Open))
		if err != nil || cmp.Identical() {
			return cmp.Identical(), err
		}
		if n == 0 {
			seen, open = r.Outcome, r.Open
			seen.Parts = slices.Clone(seen.Parts)
			continue
		}
		merged, err := outcome.Merge(&seen, &r.Outcome, s.same(open, r.Open))
		if err != nil {
			return false, err
		}
		if merged == outcome.Replaced {
			open = r.Open
		}
	}
	if e.stable {
		return false, nil
	}
	cmp, err := outcome.Compare(&e.was, &seen, s.same(e.open, open))
	return cmp.Identical(), err
}

// runUnjudged runs a case without giving it a verdict.
func (s *session) runUnjudged(ctx context.Context, t task, c *exec.Command) (*exec.Result, error) {
	r, err := s.crew.Run(ctx, exec.Job{Source: *t.entry, Command: c, Avoid: exec.NoLane, Fresh: true})
	if err == nil {
		s.settling.settle(t.entry.Name, &r.Outcome)
	}
	return r, blamed(ctx, err)
}
