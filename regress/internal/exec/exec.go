// Package exec is the seam between a run and whatever executes its cases: what
// is asked for one run of one case, and what comes back. Package local runs
// cases in lanes on this machine, package reapi on an engine elsewhere.
//
// It must not judge outcomes, nor decide what runs or how often.
package exec

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/outcome"
)

// NoLane is no lane: in Job.Avoid any will do, in Result.Lane the case ran on an engine.
const NoLane = -1

// Job asks for one run of one case.
type Job struct {
	Source  corpus.Entry
	Content []byte // not nil: what the source holds in this run, in the place of what the corpus has
	Command *Command
	Avoid   int  // number of a lane to stay away from if there is another, or NoLane
	Fresh   bool // it is to run now: what is known of an earlier run is no answer
}

// Executor runs cases. Its methods may be called from several goroutines at once, but for
// Close, which must be the last call.
type Executor interface {
	// Run runs a case once. When ctx ends it gives the case up and returns. An error is
	// of class Environment, or ctx's: the case has no outcome. What the case may be blamed
	// for is none. A corpus that is not what it was is of class Input.
	Run(context.Context, Job) (*Result, error)
	// RunAll runs the first jobs of a batch, at least one, and returns how many.
	RunAll(context.Context, Batch) int
	// Floor is the peak memory, in KiB, below which that of a case cannot be told.
	Floor() int64
	// OwnCPU is what processes of the executor's own have used here so far.
	OwnCPU() time.Duration
	Close() error
}

// Batch asks for runs of several cases on one lane, one after another: what each
// costs besides is shared. Its functions are called by the goroutine that asks.
type Batch struct {
	Jobs    []Job // all with the same Avoid
	Started func(i int)
	Ended   func(i int, r *Result, err error) // what a Run would have returned
}

// Result is one run of one case. The holder must Release it.
type Result struct {
	Outcome outcome.Outcome
	Cost    outcome.Cost
	Lane    int                // or NoLane
	Engine  *outcome.EngineRun // nil of a run on this machine

	contents []Content
	release  func()
}

// Content is what one part holds: in memory, in a file until the result is released, or
// where Opener gets it from.
type Content struct {
	Key    outcome.Key
	Bytes  []byte
	File   string
	Opener func() (io.ReadCloser, error) // nil = one of the others; fit for several goroutines
}

// NewResult returns a result whose parts' contents are in contents, in the
// order of the parts. release, which may be nil, is called once by Release.
func NewResult(o outcome.Outcome, c outcome.Cost, lane int, contents []Content, release func()) *Result {
	return &Result{Outcome: o, Cost: c, Lane: lane, contents: contents, release: release}
}

// Open returns the content of one of the outcome's parts; one that is gone has
// none. It may be called from several goroutines, until Release.
func (r *Result) Open(p outcome.Part) (io.ReadCloser, error) {
	i, ok := slices.BinarySearchFunc(r.contents, p.Key, func(c Content, k outcome.Key) int {
		return cmp.Or(cmp.Compare(c.Key.Place, k.Place), cmp.Compare(c.Key.Path, k.Path))
	})
	switch {
	case !ok:
		return nil, fmt.Errorf("no content of %s", p.Key)
	case r.contents[i].Opener != nil:
		return r.contents[i].Opener()
	case r.contents[i].File != "":
		return os.Open(r.contents[i].File)
	}
	return io.NopCloser(bytes.NewReader(r.contents[i].Bytes)), nil
}

// Release gives up the contents. It may be called more than once, by one
// goroutine.
func (r *Result) Release() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}
