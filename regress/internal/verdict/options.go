// Package verdict runs cases, compares their outcomes with a baseline, and gives each case its
// verdict. Input: tasks and a baseline, which is a golden or a reference command that runs beside the
// candidate. A case that differs runs again before its verdict. Output: verdicts to the Ledger of
// package run, outcomes of cases that differ to a store (keep), and first runs to a journal for
// --resume (state).
//
// It does not open a corpus, a golden or a run, and it knows no options of users.
package verdict

import (
	"muster/regress/internal/corpus"
	"muster/regress/internal/outcome"
	"muster/regress/internal/pass"
	"muster/regress/internal/run"
	"muster/regress/internal/turns"
)

// Options say which cases a Loop runs, how, and where their results go.
type Options struct {
	Judge   *Judge
	Cases   []corpus.Entry // selected
	Numbers RunNumbers
	Due     pass.Durations // expected durations of the first runs
	// FailFast is the number of cases that differ after which no more first runs start; 0 = none.
	FailFast int
	AllowNew bool // FailFast does not count new cases

	Runner     pass.Runner
	Goroutines int
	Jobs       int                                       // cases that run at once
	Alone      bool                                      // a lane gets one case at a time
	Settle     func(caseName string, o *outcome.Outcome) // for runs beside a rival

	Journal *Journal
	Costs   *turns.Measurement
	Ledger  *run.Ledger
	Events  *run.Events
	// WarnFailing is called once if the first cases that ran all fail and did not fail before. A
	// resumed run does not call it, as its first cases ran earlier.
	WarnFailing func()
	Resumed     bool
}
