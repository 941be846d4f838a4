// Package run prepares and finishes a run: one job over one corpus. Input: the job and the streams of
// the host. Output: the selected cases, an executor for them, the events, and a summary. The state
// folder keeps the run, so that an interrupted run can be resumed.
//
// It must not run a case itself, and it must not decide what the outcome of a case means.
package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"muster/internal/readable"
	"muster/internal/wording"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/pass"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Run is a job over a corpus, from its opening to its summary. One goroutine at a time
// uses it. Goroutines that run cases may read the fields that do not change, and emit events.
type Run struct {
	Job   job.Job
	Host  host.Host
	Began time.Time

	State   *state.State
	Folder  *state.Run // of this run; nil before Begin
	Resumed bool       // another process began the run

	Events *Events
	Ledger *Ledger

	Inputs    *Inputs
	Tool      *Tool
	Execution *Execution

	Comparer    content.Comparer
	Differences *analyse.Collector

	unlock func()
}

// Lock locks the state folder until Close.
func (r *Run) Lock() (err error) {
	r.unlock, err = r.State.Lock()
	return err
}

// Close releases everything, however far the run got.
func (r *Run) Close() error {
	err := errors.Join(r.Execution.Close(), r.Inputs.Close(), r.Events.Close())
	if r.unlock != nil {
		r.unlock()
	}
	return err
}

// reportTo makes a run report to a reporter. Call it before the first event.
func reportTo(r *Run, to report.Reporter) {
	r.Events = NewEvents(to)
	r.Ledger = NewLedger(r.Events)
}

// Ledger has the verdicts of a run. The goroutine that owns the run owns it.
type Ledger struct {
	Summary regress.Summary
	Absent  int // cases that count and that the corpus lacks
	Silent  int // recorded or identical cases without output

	begun   regress.Summary // before the first verdict
	events  *Events
	results []placedResult
	unused  unusedGlobs
}

// placedResult is a result with the index of its case in the corpus.
type placedResult struct {
	index  int
	result state.Result
}

// NewLedger returns an empty ledger. It reports each verdict to events.
func NewLedger(events *Events) *Ledger { return &Ledger{events: events} }

// WatchIgnored makes Run.Finish note those globs of --ignore that match no part. texts are
// the globs as they were given.
func (l *Ledger) WatchIgnored(texts []string, globs content.IgnoreList) {
	for i, text := range texts {
		l.unused = append(l.unused, unusedGlob{text, globs[i]})
	}
}

// Verdict counts and reports the verdict of a case.
func (l *Ledger) Verdict(c report.Case) {
	l.Summary.Verdicts[c.Verdict]++
	if c.Reused {
		l.Summary.Reused++
	}
	if c.Forked {
		l.Summary.Forked++
	}
	report.AddMasked(&l.Summary.Masked, c)
	l.unused.drop(c.Ignored)
	if c.Verdict != regress.Identical {
		l.results = append(l.results, placedResult{c.Index, state.Result{
			Name: []byte(c.Name), Verdict: c.Verdict, Unstable: c.Unstable, Why: c.Why,
			Stopped: isStopped(c), Engine: c.Engine, Reused: c.Reused,
		}})
		if isStopped(c) && (c.Verdict == regress.New || c.Verdict == regress.Flaky) {
			l.Summary.Stopped++
		}
	}
	l.events.Emit(c)
}

// isStopped reports whether a signal or a limit ended a case and did not in the golden.
func isStopped(c report.Case) bool {
	if c.Ending == nil || c.Ending.Kind == regress.Exited {
		return false
	}
	return c.GoldenEnding == nil || *c.GoldenEnding != *c.Ending
}

// NotRun counts and reports the cases that did not run.
func (l *Ledger) NotRun(cases []corpus.Entry, judged func(index int) bool) {
	for i, c := range cases {
		if !judged(i) {
			l.Summary.NotRun++
			l.events.Emit(report.NotRun{Name: c.Name, Index: i})
		}
	}
}

// EnvironmentFailed gives a case the verdict environment if err is of that class. Otherwise, and
// after too many such cases, it returns an error.
func (l *Ledger) EnvironmentFailed(t pass.Task, err error) error {
	if regress.ClassOf(err) != regress.Environment {
		return err
	}
	l.Verdict(report.Case{Name: t.Entry.Name, Index: t.Index, Verdict: regress.EnvironmentFailed, Why: wording.Of(err)})
	if l.Summary.Verdicts[regress.EnvironmentFailed] >= pass.EnvironmentMax {
		return fault.Environmentf("%s failed because of the machine, the last one: %w", readable.Cases(pass.EnvironmentMax), err)
	}
	return nil
}

// Results returns the results of all cases that are not identical, in corpus order.
func (l *Ledger) Results() []state.Result {
	slices.SortFunc(l.results, func(a, b placedResult) int {
		return cmp.Or(cmp.Compare(a.index, b.index), bytes.Compare(a.result.Name, b.result.Name))
	})
	results := make([]state.Result, len(l.results))
	for i, p := range l.results {
		results[i] = p.result
	}
	return results
}

// Events passes the events of a run to its reporters. Several goroutines may call its methods.
type Events struct {
	mu       sync.Mutex // guards the fields below
	reporter report.Reporter
	broken   error // the first error of reporter
}

// NewEvents returns Events for a reporter. Close closes the reporter.
func NewEvents(r report.Reporter) *Events { return &Events{reporter: r} }

// Emit passes an event on. Close returns the first error of an output. Emit returns no error,
// because a broken output must not end the run: its golden is worth more.
func (e *Events) Emit(ev report.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken = cmp.Or(e.broken, e.reporter.Handle(ev))
}

// Note emits a note.
func (e *Events) Note(text string) { e.Emit(report.Note{Text: text}) }

// Warn emits a warning.
func (e *Events) Warn(text string) { e.Emit(report.Note{Text: text, Warning: true}) }

// Close closes the reporter. It returns the first error of all calls.
func (e *Events) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken = cmp.Or(e.broken, e.reporter.Close())
	return e.broken
}

// Identity returns what must be the same to resume the run.
func (r *Run) Identity(ctx context.Context) (map[string]string, error) {
	if err := r.Inputs.ReadDigests(ctx); err != nil {
		return nil, err
	}
	id := map[string]string{}
	r.Inputs.Identify(id)
	r.Execution.Commands.Identify(id)
	r.Tool.Identify(id)
	if !r.Execution.Crew.IsRemote() {
		id[pathKey] = os.Getenv("PATH")
	}
	maps.Copy(id, job.IdentityFlags(&r.Job.Options))
	if len(r.Job.Command.PassEnv) > 0 {
		id["what --pass-env passes"] = job.DigestPassed(&r.Job.Command).String()
	}
	return id, nil
}

// Meta returns what a golden keeps of how it was made.
func (r *Run) Meta(ctx context.Context) (golden.Meta, error) {
	if err := r.Inputs.ReadDigests(ctx); err != nil {
		return golden.Meta{}, err
	}
	m := golden.Meta{
		Corpus: r.Inputs.Digests.Whole, CorpusPath: r.Job.Corpus.Path, Env: r.Job.Command.Env, Machine: golden.Machine(), MusterVersion: r.Job.Version,
		Created: r.Began, Repeat: r.Job.Judge.Repeat, Flags: job.OutcomeFlags(&r.Job.Options),
	}
	account := r.Execution.Crew.Account()
	m.Preflight, m.Limits = account.Preflight, account.Limits
	if r.Folder != nil {
		m.Run = r.Folder.ID
	}
	m.Tool = r.Tool.Recorded()
	m.Command = job.Commands(&r.Job.Command)
	if c := r.Execution.Commands.Main; c != nil {
		m.Executable, m.ExecutableDigest = c.Path, r.Tool.Digest(c.Path)
	}
	return m, nil
}
