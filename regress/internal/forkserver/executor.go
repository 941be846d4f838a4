package forkserver

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"muster/internal/wording"
	"muster/regress/internal/exec"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

const (
	// CasesLeast is the number of cases below which a fork server gains nothing.
	CasesLeast = 100
	// guardCases run both ways before any fork counts, failingMax of them failing ones. agreeLeast
	// of them must agree; the others vary from run to run.
	guardCases = 32
	failingMax = 8
	agreeLeast = 16
	// After that one case of samplePart runs both ways.
	samplePart = 50
)

// Executor runs cases as forks, once enough guarded cases have the same outcome both ways. It runs
// all others on the executor that it wraps. Several goroutines may call Run and RunAll.
type Executor struct {
	exec.Executor
	command *exec.Command
	// isKnown reports whether a case has this outcome in the golden. Other outcomes come from plain
	// runs alone.
	isKnown func(caseName string, is outcome.Digest) bool

	mu               sync.Mutex // guards the fields below
	guarded, sampled map[string]bool
	forking          bool
	agreed           int
	refusal          string // why there are no forks (any more); "" = there may be
	mismatch         bool   // the forks ended because a case had another outcome as a fork
	forks            int
}

// New returns an Executor that makes no forks yet.
func New(e exec.Executor, command *exec.Command, isKnown func(string, outcome.Digest) bool) *Executor {
	return &Executor{Executor: e, command: command, isKnown: isKnown, guarded: map[string]bool{}, sampled: map[string]bool{}}
}

// Guard chooses the cases that run both ways at random: those that do so first, with some that fail,
// and the sample of the others.
func (e *Executor) Guard(names []string, fails func(caseName string) bool) {
	names = slices.Clone(names)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	failing := 0
	for _, caseName := range names {
		if failing < failingMax && fails(caseName) {
			failing++
			e.guarded[caseName] = true
		}
	}
	for _, caseName := range names {
		if len(e.guarded) == guardCases {
			break
		}
		e.guarded[caseName] = true
	}
	for i, caseName := range names {
		e.sampled[caseName] = i%samplePart == 0
	}
}

// IsGuarded reports whether a case runs both ways before there are forks.
func (e *Executor) IsGuarded(caseName string) bool { return e.guarded[caseName] }

// Admit begins with forks, if the guarded cases agreed. It returns why there are none, or "".
func (e *Executor) Admit() (why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refusal == "" && e.agreed < agreeLeast {
		e.refusal = "too few of its outcomes are alike in every run"
	}
	e.forking = e.refusal == ""
	return e.refusal
}

// End returns why the forks ended, or "", and whether they ended because a case had another outcome as a
// fork. After such a mismatch no fork counts.
func (e *Executor) End() (why string, mismatch bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refusal, e.mismatch
}

// Forks returns how many cases ran as forks.
func (e *Executor) Forks() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.forks
}

// RunAll implements exec.Executor. A fork that does not count runs plainly after the others.
func (e *Executor) RunAll(ctx context.Context, b exec.Batch) (ran int) {
	first := e.wayOf(b.Jobs[0])
	if first == bothWays {
		b.Started(0)
		r, err := e.runBothWays(ctx, b.Jobs[0])
		b.Ended(0, r, err)
		return 1
	}
	end := 1
	for end < len(b.Jobs) && e.wayOf(b.Jobs[end]) == first {
		end++
	}
	b.Jobs = slices.Clone(b.Jobs[:end])
	if first == plainly {
		return e.Executor.RunAll(ctx, b)
	}
	for i := range b.Jobs {
		b.Jobs[i].Fork = true
	}
	ended := b.Ended
	var again []int
	b.Ended = func(i int, r *exec.Result, err error) {
		if e.counts(ctx, b.Jobs[i].Source.Name, r, err) {
			ended(i, r, err)
			return
		}
		if r != nil {
			r.Release()
		}
		again = append(again, i)
	}
	ran = e.Executor.RunAll(ctx, b)
	for _, i := range again {
		r, err := e.runPlainly(ctx, b.Jobs[i])
		ended(i, r, err)
	}
	return ran
}

// way is how a job runs.
type way int

const (
	plainly way = iota
	asFork
	bothWays
)

// wayOf chooses how a job runs. Only first runs of the command are forks.
func (e *Executor) wayOf(j exec.Job) way {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.refusal != "" || j.Observe || j.Fresh || j.Content != nil || j.Command != e.command:
		return plainly
	case !e.forking && !e.guarded[j.Source.Name]:
		return plainly
	case !e.forking || e.sampled[j.Source.Name]:
		return bothWays
	}
	return asFork
}

func (e *Executor) runPlainly(ctx context.Context, j exec.Job) (*exec.Result, error) {
	j.Fork, j.NewServer = false, false
	return exec.Run(ctx, e.Executor, j)
}

// counts reports whether the end of a fork is that of its case.
func (e *Executor) counts(ctx context.Context, caseName string, r *exec.Result, err error) bool {
	if err != nil {
		if ctx.Err() == nil {
			e.refuse(err)
		}
		return ctx.Err() != nil
	}
	if r.Outcome.Ending.Partial() || !e.isKnown(caseName, r.Outcome.Digest()) {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mismatch {
		return false
	}
	e.forks++
	r.Forked = true
	return true
}

// refuse ends the forks because of an error.
func (e *Executor) refuse(err error) {
	why := "a fork failed: " + wording.Of(err)
	if no := (*exec.NoServer)(nil); errors.As(err, &no) {
		why = no.Why
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refusal == "" {
		e.refusal = why
	}
}

// runBothWays runs a case plainly, and then as a fork. Before there are forks, a second fork is that
// of a server that is started anew. The result is that of the plain run.
func (e *Executor) runBothWays(ctx context.Context, j exec.Job) (*exec.Result, error) {
	plain, err := e.runPlainly(ctx, j)
	if err != nil || plain.Outcome.Ending.Partial() {
		return plain, err
	}
	e.mu.Lock()
	forks := 2
	if e.forking {
		forks = 1
	}
	e.mu.Unlock()
	for n := range forks {
		j.Fork, j.NewServer = true, n > 0
		fork, err := exec.Run(ctx, e.Executor, j)
		if err != nil {
			if ctx.Err() == nil {
				e.refuse(err)
			}
			return plain, nil
		}
		parts, err := differences(&plain.Outcome, &fork.Outcome)
		fork.Release()
		if err != nil || len(parts) > 0 {
			e.noteMismatch(ctx, j, plain, parts)
			return plain, nil
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.agreed++
	return plain, nil
}

// noteMismatch ends the forks, unless the outcome of the case varies from plain run to plain run.
func (e *Executor) noteMismatch(ctx context.Context, j exec.Job, plain *exec.Result, parts []string) {
	again, err := e.runPlainly(ctx, j)
	if err != nil {
		return // nothing shows that the fork was wrong
	}
	defer again.Release()
	if varies, err := differences(&plain.Outcome, &again.Outcome); err == nil && len(varies) > 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.mismatch {
		e.mismatch = true
		e.refusal = name.Print(j.Source.Name) + " has another outcome as a fork (" + name.List(parts, partsMax) + ")"
	}
}

// partsMax bounds the parts that a reason names.
const partsMax = 5

// differences names the parts in which two outcomes differ.
func differences(was, now *outcome.Outcome) (parts []string, err error) {
	if was.Digest() == now.Digest() {
		return nil, nil
	}
	c, err := outcome.Compare(was, now, nil)
	if err != nil {
		return nil, err
	}
	return c.Names(), nil
}
