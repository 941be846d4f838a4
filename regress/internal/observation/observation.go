// Package observation observes a tool on some cases of a run: on the first ones, and then on one of
// many, so that the closure keeps up with what later cases use.
//
// Input: an executor of this machine and the jobs to begin with (Observer.First), then every job that
// runs on the decorated executor. Output: the closure, and what later cases add to it. The package
// must not use the outcome of an observed run, but to see whether the run went the usual way.
package observation

import (
	"context"
	"slices"
	"sync"
	"time"

	"muster/regress"
	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/name"
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
	// denseMax bounds how often: some tools use files of its own for each case.
	denseMax = 100
	// pathsMax bounds the paths of all cases together.
	pathsMax = 1 << 18
	// triesMax bounds the observed runs of one case. A run that a signal interrupts may go another
	// way than the plain one.
	triesMax = 3
)

// Observer observes a tool. Several goroutines may call its methods.
type Observer struct {
	o Options

	mu     sync.Mutex
	firsts map[run]*ending         // of observed runs whose plain runs are to come; nil = it failed
	known  map[string]observe.Kind // what is known of each path
	warned bool                    // of a run that went another way
	blind  string
	grows  bool          // the last observed case used new files
	denser int           // how often such a case made the next one due early
	since  int           // plain runs after that
	plain  time.Duration // wall of all plain runs
	extra  time.Duration // wall of the observed runs
	cases  map[string]bool
	// With All: how many plain runs of a case lack an observed run with the same outcome.
	unmatched map[string]int

	written []string // the first paths outside the cases' own folders
}

// ending is how a run ended.
type ending struct {
	regress.Ending
	digest outcome.Digest // of its outcome
}

func endingOf(r *exec.Result) *ending { return &ending{r.Outcome.Ending, r.Outcome.Digest()} }

// run is a command on a case.
type run struct {
	caseName string
	command  *exec.Command
}

// New returns an Observer.
func New(o Options) *Observer {
	return &Observer{
		o: o, firsts: map[run]*ending{}, known: map[string]observe.Kind{}, cases: map[string]bool{},
		unmatched: map[string]int{},
	}
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
			r, err := exec.Run(ctx, e, j)
			o.mu.Lock()
			defer o.mu.Unlock()
			if err != nil {
				// The plain run says why, or it succeeds and the case is observed again.
				o.firsts[run{j.Source.Name, j.Command}] = nil
				return
			}
			defer r.Release()
			seen := observed(r)
			g.Add(seen)
			o.note(seen.Accesses)
			o.noteWritten(seen)
			o.firsts[run{j.Source.Name, j.Command}] = endingOf(r)
			o.extra += r.Cost.Wall
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
	return closure.WithOpenedByKernel(r.Observed)
}

// Know says that a closure is known already.
func (o *Observer) Know(c *closure.Closure) {
	for _, f := range c.Files {
		kind := observe.Opened
		if f.Role != closure.Opened {
			kind |= observe.Executed
		}
		o.known[f.Path] |= kind
	}
	for _, p := range c.Places {
		kind := observe.Asked
		switch {
		case p.IsListed:
			kind |= observe.Listed
		case p.IsWritten:
			kind = observe.Written
		}
		o.known[p.Path] |= kind
	}
	for _, path := range c.Varying {
		o.known[path] = observe.KindMax
	}
}

// note says that these accesses are known.
func (o *Observer) note(list []observe.Access) {
	for _, a := range list {
		o.known[a.Path] |= a.Kind
	}
}

// noteWritten notes what a run opened for writing.
func (o *Observer) noteWritten(seen *observe.Observation) {
	add := func(path string) {
		if len(o.written) < observe.LostMax && !slices.Contains(o.written, path) {
			o.written = append(o.written, path)
		}
	}
	for _, a := range seen.Accesses {
		if a.Kind&observe.Written != 0 {
			add(a.Path)
		}
	}
	for _, path := range seen.Lost {
		add(path)
	}
}

// Written returns the first paths that observed cases opened for writing, outside their own folders.
func (o *Observer) Written() []string {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.written
}

// IsUnlike reports whether no observed run of a case had the outcome of its plain run. What it used is then not known.
func (o *Observer) IsUnlike(caseName string) bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unmatched[caseName] > 0
}

// unknown returns the accesses of paths that are new, or used in a new way: a folder may be asked for
// first, and listed later, or a file written first, and read later.
func (o *Observer) unknown(list []observe.Access) (found []observe.Access) {
	const ways, reads = observe.Executed | observe.Listed | observe.Connected, observe.Opened | observe.Executed | observe.Listed
	isNew := map[string]bool{}
	for _, a := range list {
		was, known := o.known[a.Path]
		isRead := was&observe.Written != 0 && was&reads == 0 && a.Kind&reads != 0
		isNew[a.Path] = isNew[a.Path] || !known || a.Kind&^was&ways != 0 || isRead
	}
	for _, a := range list {
		if isNew[a.Path] {
			found = append(found, a)
		}
	}
	return found
}

// Blind says why the closure is incomplete, or "".
func (o *Observer) Blind() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.blind
}

// AwaitsPlainRun reports whether a case was observed before its plain run, which is to come.
func (o *Observer) AwaitsPlainRun(caseName string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for first := range o.firsts {
		if first.caseName == caseName {
			return true
		}
	}
	return false
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
	is := endingOf(r)
	if o.o.All {
		o.unmatched[this.caseName]++
	}
	if was, isFirst := o.firsts[this]; isFirst {
		delete(o.firsts, this)
		if o.o.All && was != nil && was.digest == is.digest {
			o.unmatched[this.caseName]--
		}
		if was != nil && (was.digest == is.digest || !was.isOwn()) {
			o.count(j.Source.Name, was, is)
			return false
		}
		return o.blind == "" && is.isOwn()
	}
	o.since++
	o.plain += r.Cost.Wall
	if o.blind != "" || !is.isOwn() {
		return false
	}
	isEarly := o.grows && o.since >= dense && o.denser < denseMax
	if isEarly {
		o.denser++
	}
	isNext := o.o.All || isEarly ||
		o.since >= sparse && o.extra.Seconds() <= shareMax*o.plain.Seconds()
	if isNext {
		o.since = 0
	}
	return isNext
}

// isOwn reports whether a run ended by itself. A limit cuts off an observed run earlier than a plain one,
// because it takes longer.
func (e *ending) isOwn() bool { return e.Kind == regress.Exited || e.Kind == regress.Signalled }

// count counts a case as observed if both runs ended alike. Otherwise files may be missing, and it warns
// once.
func (o *Observer) count(caseName string, seen, plain *ending) {
	switch {
	case o.blind != "":
	case seen.Ending == plain.Ending:
		o.cases[caseName] = true
	case o.warned || !plain.isOwn():
	case seen.isOwn():
		o.warned = true
		o.o.Warn("the tool ends otherwise while it is observed, on " + name.Print(caseName))
	default:
		o.warned = true
		o.o.Warn(name.Print(caseName) + " reached a limit while it was observed, which takes longer")
	}
}

// observe observes a case until its outcome is that of its plain run. It tries triesMax times, or once more
// if the run ends alike, because outcomes with a date in them are never the same. It stops at a limit.
func (o *Observer) observe(ctx context.Context, e exec.Executor, j exec.Job, plain *ending) {
	j.Observe, j.Avoid = true, exec.NoLane
	var seen *ending
	for i := range triesMax {
		if o.isBlind() {
			return
		}
		r, err := exec.Run(ctx, e, j)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			continue
		}
		o.add(r)
		seen = endingOf(r)
		r.Release()
		if seen.digest == plain.digest || !seen.isOwn() || i > 0 && seen.Ending == plain.Ending {
			break
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen != nil {
		o.count(j.Source.Name, seen, plain)
		if o.o.All && seen.digest == plain.digest {
			o.unmatched[j.Source.Name]--
		}
	}
}

func (o *Observer) isBlind() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.blind != ""
}

// add adds an observed run of a case to the closure.
func (o *Observer) add(r *exec.Result) {
	seen := observed(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.extra += r.Cost.Wall
	o.noteWritten(seen)
	if o.blind != "" {
		return
	}
	g := closure.Gatherer{Leave: o.o.Leave, Began: o.o.Began, Own: o.o.Own, Others: true}
	fresh := *seen
	fresh.Accesses = o.unknown(seen.Accesses)
	g.Add(&fresh)
	o.note(seen.Accesses)
	c, err := g.Closure(o.o.Digests)
	why := g.Blind()
	switch {
	case err != nil:
		why = err.Error()
	case why == "" && len(o.known) > pathsMax:
		why = "the tool uses too many files"
	}
	if why != "" {
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

// RunAll implements exec.Executor.
func (e observing) RunAll(ctx context.Context, b exec.Batch) int {
	type due struct {
		job   exec.Job
		plain *ending
	}
	var list []due
	ended := b.Ended
	b.Ended = func(i int, r *exec.Result, err error) {
		if err == nil && e.observer.isDue(b.Jobs[i], r) {
			list = append(list, due{b.Jobs[i], endingOf(r)})
		}
		ended(i, r, err)
	}
	n := e.Executor.RunAll(ctx, b)
	for _, d := range list {
		e.observer.observe(ctx, e.Executor, d.job, d.plain)
	}
	return n
}
