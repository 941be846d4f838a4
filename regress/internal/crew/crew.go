// Package crew starts what runs the cases: lanes on this machine, or an engine elsewhere. Input: the
// place of the runs, the corpus, the commands and the limits, as plain values. Output: an
// exec.Executor. Executors that wrap another one count runs, mark parts to ignore, give errors their
// class, and run a case again whose ending depends on the machine (settling).
//
// It decides no order and gives no verdict. It does not know the options of a run, and opens no golden:
// its caller passes a function that looks up an outcome.
package crew

import (
	"context"
	"time"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// A Crew runs the cases of one session: Here or Engine. Its owner calls its methods, one at a
// time.
type Crew interface {
	// Resolve finds the executable of a command.
	Resolve(words []string) (*exec.Command, error)
	// Start starts an executor. Close the last one before the next Start.
	Start(context.Context, Setup) (exec.Executor, error)
	Width() Width
	// IsRemote reports whether cases run on other machines than this one.
	IsRemote() bool
	// Identity returns what must be the same to resume a run, by names that an error can use.
	// Call it after Start.
	Identity() map[string]string
	// Preflight returns the digest of what the preflight printed. It is zero without one.
	// Call it after Start.
	Preflight() outcome.Digest
	// Sum returns the figures of all runs so far on an engine, or nil.
	Sum() *regress.EngineRuns
	// Quiet returns when the crew emits no more events, until the next Start.
	Quiet()
	// Close releases everything. Close the executors first.
	Close()
}

// Width says how much a crew does at once.
type Width struct {
	Jobs       int  // cases that run at once; 0 = one, without a pool
	Goroutines int  // that work on cases: some may prepare the next ones
	Alone      bool // a lane gets one task at once: the engine has a queue of its own
}

// Options say where cases run.
type Options struct {
	Command      string // name of the run's command, for events
	Shell, Stdin bool   // of command lines
	Jobs         int    // cases at once on this machine
	Helper       []string
	// StartExecutor replaces lanes. It is nil outside of tests.
	StartExecutor func(lanes int) (exec.Executor, error)

	Engine     Endpoint // without a URL the cases run on this machine
	Note, Warn func(string)
	Emit       func(report.Event)
}

// Setup says what an executor runs, and within which limits.
type Setup struct {
	Corpus   *corpus.Corpus
	Commands []*exec.Command
	Later    []*exec.Command // commands that may run
	Env      []string        // K=V, beside what every case gets

	Timeout, Grace time.Duration
	MemoryMax      int64 // bytes; at most 0 = no limit
	OutputMax      int64 // bytes
	NoNetwork      bool

	Lanes int    // on this machine
	Keep  string // if not empty, the folder that stays as the case leaves it, on this machine

	Exclude []string // files that do not travel
	Cache   string   // folder of the state
	// Left returns the files that a case is known to leave. It may be nil.
	Left func(caseName string) []string
}
