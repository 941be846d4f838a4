// Package exec is the seam between a run and the executor of its cases. A Job goes in: one run
// of one case. A Result comes out: its outcome, its cost, and functions that open its
// contents. Package local runs cases in lanes on this machine, package reapi on an engine
// elsewhere.
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
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/lane/observe"
)

// NoLane is not the number of a lane. In Job.Avoid it permits any lane. In Result.Lane it says
// that the case ran on an engine.
const NoLane = -1

// Job asks for one run of one case.
type Job struct {
	Source  corpus.Entry
	Content []byte // not nil: replaces the source's content in this run
	Command *Command
	Avoid   int  // number of a lane to avoid if possible, or NoLane
	Fresh   bool // run the case now: the result of an earlier run is not an answer
	// Observe asks a lane for the files that the command uses. The run takes longer, and its
	// outcome is not for comparison. Engines ignore it.
	Observe bool
	// Fork asks a lane for a fork of a server of the command, and NewServer for one that is started
	// now. The error is a *NoServer if the command is not fit for that. Engines ignore both.
	Fork, NewServer bool
}

// NoServer says why a command is not fit for a fork server. Its text follows the name of the command.
type NoServer struct{ Why string }

func (e *NoServer) Error() string { return e.Why }

// Executor runs cases. Its methods may be called from several goroutines at once, except
// Close, which must be the last call.
type Executor interface {
	// RunAll runs the first jobs of a batch once, at least one, and returns how many. When ctx
	// ends, it stops the case and returns. A failure of a case is part of its outcome. An error
	// means that the case has no outcome: it is of class Environment, or ctx's. It is of class
	// Input if the corpus changed.
	RunAll(context.Context, Batch) int
	// Floor is the lowest peak memory of a case that can be measured, in KiB.
	Floor() int64
	// OwnCPU is the CPU time that the executor's own processes have used here so far.
	OwnCPU() time.Duration
	Close() error
}

// MakeKept makes the folder of --keep. It must be new or empty.
func MakeKept(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fault.Environmentf("--keep: %w", err)
	}
	if len(entries) > 0 {
		return fault.Inputf("--keep %s: the folder is not empty; name a new one", dir)
	}
	return nil
}

// Batch asks for runs of several cases on one lane, one after another, which share the costs
// beside the runs. Its functions are called by the goroutine that asks.
type Batch struct {
	Jobs    []Job // all with the same Avoid
	Started func(i int)
	Ended   func(i int, r *Result, err error)
}

// Run runs a single job on an executor.
func Run(ctx context.Context, e Executor, j Job) (r *Result, err error) {
	e.RunAll(ctx, Batch{
		Jobs:    []Job{j},
		Started: func(int) {},
		Ended:   func(_ int, got *Result, failed error) { r, err = got, failed },
	})
	return r, err
}

// Result is one run of one case. Its owner must Release it.
type Result struct {
	Outcome outcome.Outcome
	Cost    outcome.Cost
	Lane    int                // or NoLane
	Engine  *outcome.EngineRun // nil for a run on this machine
	Reused  bool               // the outcome is that of an earlier run, and nothing ran
	Forked  bool               // a fork of a server ran, which costs less than the command does

	Observed *observe.Observation // nil if the job did not ask for it, or an engine ran it

	contents []Content
	release  func()
}

// Content is the content of one part: in memory, in a file until the result is released, or
// from Opener.
type Content struct {
	Key    outcome.Key
	Bytes  []byte
	File   string
	Opener func() (io.ReadCloser, error) // may be nil; may be called from several goroutines
}

// NewResult returns a result with these contents, in the order of the outcome's parts. Release
// calls release once, unless it is nil.
func NewResult(o outcome.Outcome, c outcome.Cost, lane int, contents []Content, release func()) *Result {
	return &Result{Outcome: o, Cost: c, Lane: lane, contents: contents, release: release}
}

// Open returns the content of one of the outcome's parts. A part that is gone has no content.
// Open may be called from several goroutines, until Release.
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

// Release gives up the contents. One goroutine may call it more than once.
func (r *Result) Release() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}
