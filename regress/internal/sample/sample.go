// Package sample checks that a tool still behaves as it did, before an interrupted run is resumed. It
// runs a sample of the finished cases again, and compares the new runs with the earlier outcomes.
//
// Input: the finished cases, and what each one is expected to give. Output: an error if the tool gives
// something else. Runs of cases that vary are kept, so that they can join the resumed run. The package
// gives no verdict and changes nothing of the resumed run.
package sample

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"muster/internal/readable"
	"muster/regress/internal/content"
	"muster/regress/internal/exec"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/keep"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/state"
)

// A sample has one of part finished cases, and at least least. muster may not know all files of the
// tool, so a changed tool may have the same files. The sample detects that.
const (
	part  = 100 // 1 %
	least = 3
)

// namesMax bounds the cases that an error names.
const namesMax = 10

// Options say how a sample runs.
type Options struct {
	Run        *state.Run // to be resumed
	Meta       golden.Meta
	Executor   exec.Executor
	Goroutines int
	Comparer   content.Comparer
	Retries    int // runs after the first one, of a case that differs
	Note       func(string)
}

// Sample has the new runs of finished cases. It stores the runs of cases that vary in stores of
// its own. Several goroutines may call its methods.
type Sample struct {
	Candidate, Reference *keep.Store // of the cases that vary

	o      Options
	mu     sync.Mutex // guards the fields below
	varied []string   // names
	others []string   // names of cases with another outcome
}

// New returns an empty sample.
func New(o Options) *Sample {
	store := func(name string) *keep.Store { return &keep.Store{Path: o.Run.File(name), Meta: o.Meta} }
	return &Sample{Candidate: store("sample.golden"), Reference: store("sample-references.golden"), o: o}
}

// Repeat runs a sample of the finished cases again. It refuses to resume the run if same returns
// false for one of them. Otherwise it calls join for each case that varies: all of them, also
// after an interrupt. Then it removes its stores.
func (s *Sample) Repeat(
	ctx context.Context, finished []pass.Task,
	same func(context.Context, pass.Task) (bool, error), join func(ctx context.Context, caseName string) error,
) (err error) {
	if len(finished) == 0 {
		return nil
	}
	defer func() { err = errors.Join(err, s.Candidate.Drop(), s.Reference.Drop()) }()
	picked := pick(finished)
	s.o.Note(fmt.Sprintf("--resume: %s of %s run again, to check that the tool is the same", readable.Number(len(picked)), readable.Count(len(finished), "finished case")))
	err = pass.ForEach(ctx, s.o.Goroutines, picked, func(handing context.Context, t pass.Task) error {
		if handing.Err() != nil {
			return nil
		}
		ok, err := same(ctx, t) // a lane dies with the context of its last run: handing ends here
		if err == nil && !ok {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.others = append(s.others, t.Entry.Name)
		}
		return err
	})
	switch {
	case ctx.Err() != nil:
		return fault.Interruptedf("interrupted while finished cases ran again: the run is as it was; --resume goes on")
	case err != nil:
		return err
	case len(s.others) > 0:
		return s.refuse()
	}
	for _, caseName := range s.varied {
		if err := join(context.WithoutCancel(ctx), caseName); err != nil {
			return err
		}
	}
	return nil
}

// pick picks tasks at random.
func pick(finished []pass.Task) []pass.Task {
	n := max(least, (len(finished)+part-1)/part)
	picked := slices.Clone(finished)
	rand.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked[:min(n, len(picked))]
}

// refuse returns the error for cases with another outcome.
func (s *Sample) refuse() error {
	slices.Sort(s.others)
	return fault.Inputf("--resume: something that the tool depends on changed since run %s: another outcome in %s (%s each): run without --resume", s.o.Run.ID, name.List(s.others, namesMax), readable.Count(1+s.o.Retries, "run"))
}

// RunOnce runs a case once.
func (s *Sample) RunOnce(ctx context.Context, t pass.Task, c *exec.Command) (*exec.Result, error) {
	return exec.Run(ctx, s.o.Executor, exec.Job{Source: *t.Entry, Command: c, Avoid: exec.NoLane, Fresh: true})
}

// Keep stores a run of a case that varies.
func (s *Sample) Keep(ctx context.Context, in *keep.Store, caseName string, r *exec.Result, l keep.Likeness) error {
	s.mu.Lock()
	if !slices.Contains(s.varied, caseName) {
		s.varied = append(s.varied, caseName)
	}
	s.mu.Unlock()
	_, stored, err := in.Get(caseName)
	switch {
	case err != nil:
		return err
	case stored:
		return in.Merge(ctx, caseName, r, l, s.o.Comparer.Same)
	}
	return in.Put(ctx, caseName, r, l)
}

// Expectation is the outcome that a command gave for a finished case.
type Expectation struct {
	Task    pass.Task
	Command *exec.Command
	Was     outcome.Outcome
	Open    content.Opener
	Kept    *keep.Store // of the sample, for the command's new runs
	// Stable reports that the outcome does not vary. Otherwise a part may differ if it also
	// varies among the new runs.
	Stable bool
	// Compare compares a run with what the resumed run compares it with.
	Compare func(*exec.Result) (keep.Likeness, error)
}

// IsMet reports whether a command still gives the expected outcome. One of the new runs must give
// it, or all differences must lie in parts that vary among the new runs.
func (s *Sample) IsMet(ctx context.Context, e Expectation) (bool, error) {
	for n := range 1 + s.o.Retries {
		// The first run of a case that does not vary says nothing new if it is as before.
		same, err := s.IsMetOnce(ctx, e, n == 0 && (e.Stable || !e.Was.Flaky()))
		if err != nil || same {
			return same, err
		}
	}
	if e.Stable {
		return false, nil
	}
	rec, _, err := e.Kept.Get(e.Task.Entry.Name)
	if err != nil {
		return false, err
	}
	cmp, err := outcome.Compare(&e.Was, &rec.Outcome, s.o.Comparer.Same(e.Open, e.Kept.Content))
	return cmp.Identical(), err
}

// IsMetOnce makes a new run, and reports whether it gives the expected outcome. A run that a limit
// ended does if the same limit ended an earlier run. The sample keeps the run, unless plain is set
// and the run is as expected.
func (s *Sample) IsMetOnce(ctx context.Context, e Expectation, plain bool) (same bool, err error) {
	r, err := s.RunOnce(ctx, e.Task, e.Command)
	if err != nil {
		return false, err
	}
	defer r.Release()
	is, err := keep.Compare(&e.Was, &r.Outcome, s.o.Comparer.Same(e.Open, r.Open))
	if same = is != keep.Unlike; err != nil || same && plain {
		return same, err
	}
	l, err := e.Compare(r)
	if err != nil {
		return false, err
	}
	return same, s.Keep(ctx, e.Kept, e.Task.Entry.Name, r, l)
}
