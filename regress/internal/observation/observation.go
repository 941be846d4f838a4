// Package observation observes a tool on some cases of a run: on the first ones, and then on one of
// many, so that the closure keeps up with what later cases use.
//
// Input: an executor of this machine and the jobs to begin with (Observer.First), then every job that
// runs on the decorated executor. Output: the closure, and what later cases add to it. The package
// must not use the outcome of an observed run, but to see whether the run went the usual way.
package observation

import (
	"context"
	"sync"
	"time"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/outcome"
	"muster/regress/lane/observe"
)

// Options describe what to observe.
type Options struct {
	Leave   func(path string) bool // --no-tool-file
	Began   time.Time              // the run
	Own     closure.Own            // muster's own files
	Digests *filedigest.Cache
	All     bool // every case is observed
	// Grown is called with what a later case adds to the closure. Warn is called once if a later
	// case does what no closure can hold. One goroutine at a time calls them.
	Grown func(*closure.Closure)
	Warn  func(why string)
}

// After the first cases one in sparse is observed, unless all observed runs together have taken more than
// shareMax of the time of plain ones. While observed cases use new files, it is one in dense.
const (
	sparse   = 100
	shareMax = 0.015
	dense    = 10
	// triesMax bounds the observed runs of one case. A run that a signal interrupts may go another
	// way than the plain one.
	triesMax = 3
)

// Observer observes a tool. Several goroutines may call its methods.
type Observer struct {
	o Options

	mu     sync.Mutex
	firsts map[run]outcome.Digest // outcomes of observed runs whose plain runs are to come
	known  map[string]bool        // paths
	blind  string
	grows  bool          // the last observed case used new files
	since  int           // plain runs after that
	plain  time.Duration // wall of all plain runs
	extra  time.Duration // wall of the observed runs
	cases  map[string]bool
}

// run is a command on a case.
type run struct {
	caseName string
	command  *exec.Command
}

// New returns an Observer.
func New(o Options) *Observer {
	return &Observer{o: o, firsts: map[run]outcome.Digest{}, known: map[string]bool{}, cases: map[string]bool{}}
}

// First observes jobs, all at once, and returns their closure. It returns why there is none if the
// kernel or the tool does not let itself be observed. A job that fails shows nothing, and is observed
// again after its plain run.
func (o *Observer) First(ctx context.Context, e exec.Executor, jobs []exec.Job) (c *closure.Closure, blind string, err error) {
	g := closure.Gatherer{Leave: o.o.Leave, Began: o.o.Began, Own: o.o.Own}
	var wait sync.WaitGroup
	for _, j := range jobs {
		wait.Go(func() {
			j.Observe = true
			r, err := e.Run(ctx, j)
			o.mu.Lock()
			defer o.mu.Unlock()
			if err != nil {
				// The plain run says why, or it succeeds and the case is observed again: no run has this digest.
				o.firsts[run{j.Source.Name, j.Command}] = outcome.Digest{}
				return
			}
			defer r.Release()
			g.Add(observed(r))
			o.firsts[run{j.Source.Name, j.Command}] = r.Outcome.Digest()
			o.extra += r.Cost.Wall
			o.cases[j.Source.Name] = true
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	if o.blind = g.Blind(); o.blind != "" {
		return nil, o.blind, nil
	}
	c, err = g.Closure(o.o.Digests)
	if err == nil {
		o.Know(c)
	}
	return c, "", err
}

func observed(r *exec.Result) *observe.Observation {
	if r.Observed == nil {
		return &observe.Observation{Blind: "the case ran elsewhere"}
	}
	return r.Observed
}

// Know says that a closure is known already.
func (o *Observer) Know(c *closure.Closure) {
	for _, f := range c.Files {
		o.known[f.Path] = true
	}
	for _, p := range c.Places {
		o.known[p.Path] = true
	}
	for _, path := range c.Varying {
		o.known[path] = true
	}
}

// Cases returns the number of cases that were observed.
func (o *Observer) Cases() int {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.cases)
}

// isDue reports whether a case is observed after its plain run.
func (o *Observer) isDue(j exec.Job, r *exec.Result) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	this := run{j.Source.Name, j.Command}
	if was, isFirst := o.firsts[this]; isFirst {
		delete(o.firsts, this)
		return was != r.Outcome.Digest()
	}
	o.since++
	o.plain += r.Cost.Wall
	if o.blind != "" || !endsItself(&r.Outcome) {
		return false
	}
	isNext := o.o.All || o.grows && o.since >= dense ||
		o.since >= sparse && o.extra.Seconds() <= shareMax*o.plain.Seconds()
	if isNext {
		o.since = 0
	}
	return isNext
}

// endsItself reports whether a case ended by itself. A limit would cut off the observed run, which
// takes longer.
func endsItself(o *outcome.Outcome) bool {
	return o.Ending.Kind == regress.Exited || o.Ending.Kind == regress.Signalled
}

// observe observes a case until it ends as its plain run did, at most triesMax times.
func (o *Observer) observe(ctx context.Context, e exec.Executor, j exec.Job, plain outcome.Digest) {
	j.Observe, j.Avoid = true, exec.NoLane
	for range triesMax {
		if o.isBlind() {
			return
		}
		r, err := e.Run(ctx, j)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			continue
		}
		o.add(j.Source.Name, r)
		same := r.Outcome.Digest() == plain
		r.Release()
		if same {
			return
		}
	}
}

func (o *Observer) isBlind() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.blind != ""
}

// add adds an observed run to the closure.
func (o *Observer) add(caseName string, r *exec.Result) {
	seen := observed(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.extra += r.Cost.Wall
	if o.blind != "" {
		return
	}
	o.cases[caseName] = true
	g := closure.Gatherer{Leave: o.o.Leave, Began: o.o.Began, Own: o.o.Own}
	fresh := *seen
	fresh.Accesses = nil
	for _, a := range seen.Accesses {
		if !o.known[a.Path] {
			fresh.Accesses = append(fresh.Accesses, a)
		}
	}
	g.Add(&fresh)
	c, err := g.Closure(o.o.Digests)
	if why := g.Blind(); why != "" || err != nil {
		if err != nil {
			why = err.Error()
		}
		o.blind = why
		o.o.Warn(why)
		return
	}
	o.Know(c)
	if o.grows = len(c.Files)+len(c.Places) > 0; o.grows || len(c.Varying) > 0 {
		o.o.Grown(c)
	}
}

// observing is an executor that observes some cases after their plain runs.
type observing struct {
	exec.Executor
	observer *Observer
}

// Decorate returns an executor that observes some of its cases. A nil Observer observes none.
func (o *Observer) Decorate(e exec.Executor) exec.Executor {
	if o == nil {
		return e
	}
	return observing{e, o}
}

// Run implements exec.Executor.
func (e observing) Run(ctx context.Context, j exec.Job) (*exec.Result, error) {
	r, err := e.Executor.Run(ctx, j)
	if err == nil && e.observer.isDue(j, r) {
		e.observer.observe(ctx, e.Executor, j, r.Outcome.Digest())
	}
	return r, err
}

// RunAll implements exec.Executor.
func (e observing) RunAll(ctx context.Context, b exec.Batch) int {
	type due struct {
		job   exec.Job
		plain outcome.Digest
	}
	var list []due
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) {
		if err == nil && e.observer.isDue(b.Jobs[i], r) {
			list = append(list, due{b.Jobs[i], r.Outcome.Digest()})
		}
		ended(i, r, err)
	}
	n := e.Executor.RunAll(ctx, b)
	for _, d := range list {
		e.observer.observe(ctx, e.Executor, d.job, d.plain)
	}
	return n
}
