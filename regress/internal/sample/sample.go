// Package sample checks that a tool still behaves as it did, before an interrupted run is resumed. It
// runs a sample of the finished cases again, and compares the new runs with the earlier outcomes.
//
// Input: the finished cases, and what each one is expected to give. Output: an error if the tool gives
// something else. The new runs are not kept. The package gives no verdict and changes nothing of the
// resumed run.
package sample

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"muster/internal/readable"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
)

// A sample has one of part finished cases, and at least least. muster may not know all files of the
// tool, so a changed tool may have the same files. The sample detects that.
const (
	part  = 100 // 1 %
	least = 3
)

// namesMax bounds the cases that an error names.
const namesMax = 10

// Sample says how a sample runs.
type Sample struct {
	RunID      string // of the run to be resumed
	Executor   exec.Executor
	Goroutines int
	Comparer   content.Comparer
	Retries    int // runs after the first one, of a case that differs
	Note       func(string)
}

// Repeat runs a sample of the finished cases again. It refuses to resume the run if same returns
// false for one of them. Several goroutines call same.
func (s *Sample) Repeat(ctx context.Context, finished []pass.Task, same func(context.Context, pass.Task) (bool, error)) error {
	if len(finished) == 0 {
		return nil
	}
	picked := pick(finished)
	s.Note(fmt.Sprintf("--resume: %s of %s run again, to check that the tool is the same", readable.Number(len(picked)), readable.Count(len(finished), "finished case")))
	var mu sync.Mutex
	var others []string // names of cases with another outcome
	err := pass.ForEach(ctx, s.Goroutines, picked, func(handing context.Context, t pass.Task) error {
		if handing.Err() != nil {
			return nil
		}
		ok, err := same(ctx, t) // a lane dies with the context of its last run: handing ends here
		if err == nil && !ok {
			mu.Lock()
			defer mu.Unlock()
			others = append(others, t.Entry.Name)
		}
		return err
	})
	if ctx.Err() != nil {
		return fault.Interruptedf("interrupted while finished cases ran again: the run is as it was; --resume goes on")
	}
	if err != nil {
		return err
	}
	return s.refuse(others)
}

// pick picks tasks at random.
func pick(finished []pass.Task) []pass.Task {
	n := max(least, (len(finished)+part-1)/part)
	picked := slices.Clone(finished)
	rand.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:min(n, len(picked))]
}

// refuse returns the error for cases with another outcome, or nil without any.
func (s *Sample) refuse(others []string) error {
	if len(others) == 0 {
		return nil
	}
	slices.Sort(others)
	return fault.Inputf("--resume: something that the tool depends on changed since run %s: another outcome in %s (%s each): run without --resume", s.RunID, name.List(others, namesMax), readable.Count(1+s.Retries, "run"))
}

// RunOnce runs a case once.
func (s *Sample) RunOnce(ctx context.Context, t pass.Task, c *exec.Command) (*exec.Result, error) {
	return exec.Run(ctx, s.Executor, exec.Job{Source: *t.Entry, Command: c, Avoid: exec.NoLane, Fresh: true})
}

// Expectation is the outcome that a command gave for a finished case.
type Expectation struct {
	Task    pass.Task
	Command *exec.Command
	Was     outcome.Outcome
	Open    content.Opener
	// Stable reports that the outcome does not vary. Otherwise new runs that differ from each other say
	// nothing about the tool.
	Stable bool
}

// IsMet reports whether a command still gives the expected outcome: one of the new runs must give it, or
// the outcome varies. A run that a limit ended gives it if the same limit ended an earlier run.
func (s *Sample) IsMet(ctx context.Context, e Expectation) (bool, error) {
	var last *exec.Result
	for range 1 + s.Retries {
		r, err := s.RunOnce(ctx, e.Task, e.Command)
		if err != nil {
			return false, err
		}
		defer r.Release() // a few runs of a case are held
		is, err := keep.Compare(&e.Was, &r.Outcome, s.Comparer.Same(e.Open, r.Open))
		if err != nil || is != keep.Unlike {
			return err == nil, err
		}
		if last != nil && !e.Stable {
			again, err := keep.Compare(&last.Outcome, &r.Outcome, s.Comparer.Same(last.Open, r.Open))
			if err != nil || again == keep.Unlike {
				return err == nil, err
			}
		}
		last = r
	}
	return false, nil
}
