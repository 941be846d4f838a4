package reuse

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
)

const (
	// guardPart and guardLeast: one of guardPart cases is run before the others are reused, and at
	// least guardLeast of them.
	guardPart  = 100
	guardLeast = 20
)

// Executor answers for cases whose outcome is known, once all guarded cases gave theirs. It runs all
// others on the executor that it wraps. Several goroutines may call Run and RunAll.
type Executor struct {
	exec.Executor
	// find returns the outcome of an entry as a result, or nil if it is gone.
	find func(caseName string, c Case) *exec.Result
	// Hides reports whether the outcome of a result must not be shared; nil = every outcome may be.
	Hides func(*exec.Result) bool

	mu        sync.Mutex // guards the fields below
	known     map[string]Case
	guarded   map[string]bool // cases that run first; true = one run gave the known outcome
	answering bool
	mismatch  *Mismatch
	gave      map[string]Case // of first runs: a known entry, or only an outcome, zero if a limit cut it short
}

// Mismatch says that a guarded case did not give its known outcome.
type Mismatch struct {
	Case  string
	Maker string   // the host that gave the known outcome; "" = unknown
	Parts []string // that differ, by outcome.PartName; empty if the case could not run
}

// New returns an Executor that knows no case.
func New(e exec.Executor, find func(caseName string, c Case) *exec.Result) *Executor {
	return &Executor{Executor: e, find: find, gave: map[string]Case{}}
}

// Know sets the known cases, and chooses those that must run first: a random sample, and all that
// first names. Call it before the first run.
func (e *Executor) Know(known map[string]Case, first func(caseName string) bool) {
	e.known, e.guarded = known, map[string]bool{}
	names := make([]string, 0, len(known))
	for caseName := range known {
		if first(caseName) {
			e.guarded[caseName] = false
			continue
		}
		names = append(names, caseName)
	}
	slices.Sort(names)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, caseName := range names[:min(len(names), max(guardLeast, (len(known)+guardPart-1)/guardPart))] {
		e.guarded[caseName] = false
	}
}

// IsGuarded reports whether a case must run before others are reused.
func (e *Executor) IsGuarded(caseName string) bool {
	_, is := e.guarded[caseName]
	return is
}

// Answer begins to answer for the known cases, if every guarded case gave its known outcome. Otherwise
// it forgets them, and returns a mismatch if there was one. No case runs meanwhile.
func (e *Executor) Answer() *Mismatch {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answering = e.mismatch == nil
	for _, agreed := range e.guarded {
		e.answering = e.answering && agreed
	}
	if !e.answering {
		e.known, e.guarded = nil, nil
	}
	return e.mismatch
}

// Gave returns the entry that the Executor answered with for a case. If the case ran instead, it returns
// the outcome of the first run alone, or none for a run that a limit cut short.
func (e *Executor) Gave(caseName string) Case {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gave[caseName]
}

// RunAll implements exec.Executor.
func (e *Executor) RunAll(ctx context.Context, b exec.Batch) (done int) {
	for done < len(b.Jobs) {
		if r := e.answer(b.Jobs[done]); r != nil {
			b.Started(done)
			b.Ended(done, r, nil)
			done++
			continue
		}
		end := done + 1
		for end < len(b.Jobs) && !e.answers(b.Jobs[end].Source.Name) {
			end++
		}
		jobs, from := b.Jobs[done:end], done
		done += e.Executor.RunAll(ctx, exec.Batch{
			Jobs:    jobs,
			Started: func(i int) { b.Started(from + i) },
			Ended: func(i int, r *exec.Result, err error) {
				e.look(jobs[i], r, err)
				b.Ended(from+i, r, err)
			},
		})
		if done < end {
			break
		}
	}
	return done
}

// answers reports whether the Executor may answer for a case.
func (e *Executor) answers(caseName string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, guarded := e.guarded[caseName]
	_, known := e.known[caseName]
	return e.answering && known && !guarded
}

// answer returns the known outcome of a job's case, or nil if the case must run.
func (e *Executor) answer(j exec.Job) *exec.Result {
	caseName := j.Source.Name
	if j.Observe || j.Content != nil || !e.answers(caseName) {
		return nil
	}
	r := e.find(caseName, e.known[caseName])
	if r == nil {
		return nil
	}
	r.Reused = true
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gave[caseName] = e.known[caseName]
	return r
}

// look notes the result of a run, and compares that of a guarded case with what is known.
func (e *Executor) look(j exec.Job, r *exec.Result, err error) {
	caseName := j.Source.Name
	var now outcome.Digest
	if err == nil && !r.Outcome.Ending.Partial() {
		now = r.Outcome.Digest()
	}
	gave := Case{Outcome: now}
	if !j.Fresh && gave.HasOutcome() && e.Hides != nil && e.Hides(r) {
		gave = Case{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !j.Fresh {
		e.gave[caseName] = gave
	}
	if _, is := e.guarded[caseName]; !is || e.answering || e.mismatch != nil {
		return
	}
	known := e.known[caseName]
	if err == nil && known.Outcome == now {
		e.guarded[caseName] = true
		return
	}
	e.mismatch = &Mismatch{Case: caseName, Maker: known.Maker}
	if was := e.find(caseName, known); was != nil && err == nil {
		if c, err := outcome.Compare(&was.Outcome, &r.Outcome, nil); err == nil {
			e.mismatch.Parts = c.Names()
		}
		was.Release()
	}
}
