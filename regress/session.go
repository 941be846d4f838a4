package regress

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// session is one command over a corpus, from its opening to its summary. The
// goroutine that opened it owns it, and lends it to whoever takes a result in a
// pass; workers see only what does not change, and may emit events.
type session struct {
	o       *Options
	name    string // of the command
	began   time.Time
	usedAt  time.Duration // CPU that this process had used by then
	rules   normalize.Rules
	chooser *plan.Chooser
	state   *state.State
	unlock  func()
	run     *state.Run
	resumed bool // run was begun by another process

	emitting sync.Mutex // guards the two below
	out      report.Reporter
	broken   error // the first error of out

	corpus *corpus.Corpus
	digest outcome.Digest // of the corpus, once it is known
	cases  []corpus.Entry // selected, in corpus order
	command
	crew *local.Crew

	due     durations // how long each case should take in the present pass, complete
	summary Summary
	counted int // cases that the corpus does not have
	results []placed
}

// newSession checks the options. Nothing is open yet.
func newSession(o *Options, name string) (s *session, err error) {
	s = &session{o: o, name: name, began: time.Now(), usedAt: usedCPU(), state: state.Open(o.Store.State), out: report.Tee{}}
	if err := o.check(name); err != nil {
		return nil, err
	}
	o.Limits.complete()
	if s.rules, err = normalize.Parse(o.Judge.Normalize); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	if s.chooser, err = selection(&o.Select).Compile(); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	return s, nil
}

// open checks the options and opens the corpus. On an error nothing stays open.
func open(ctx context.Context, o *Options, name string) (_ *session, err error) {
	s, err := newSession(o, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if name == report.RecordCommand || name == report.CheckCommand || name == report.CompareCommand {
		if s.unlock, err = s.state.Lock(); err != nil {
			return nil, err
		}
	}
	if err := s.report(); err != nil {
		return nil, err
	}
	if s.corpus, err = s.openCorpus(ctx); err != nil {
		return nil, err
	}
	s.warnOfReports()
	if err := s.resumeOnly(); err != nil {
		return nil, err
	}
	return s, s.choose()
}

// report opens the reporters.
func (s *session) report() error {
	out, err := s.o.Report.reporters()
	if err == nil {
		s.out = out
	}
	return err
}

func selection(s *Selection) plan.Selection {
	return plan.Selection{Globs: s.Globs, Filters: s.Filters, Partition: s.Partition, Sample: s.Sample}
}

// only returns whether a case is one of those that are named alone.
func (s *Selection) only() func(name string) bool {
	if s.Only == nil {
		return func(string) bool { return true }
	}
	set := make(map[string]bool, len(s.Only))
	for _, name := range s.Only {
		set[name] = true
	}
	return func(name string) bool { return set[name] }
}

func (s *session) openCorpus(ctx context.Context) (*corpus.Corpus, error) {
	o := s.o
	if o.Corpus.Path == "" {
		return nil, fault.Inputf("no corpus: name an archive, a folder or - for a tar on standard input, here or as corpus in muster.toml")
	}
	return corpus.Open(ctx, corpus.Options{
		Path: o.Corpus.Path, Stdin: o.Corpus.Stdin,
		Spool:   state.Open(o.Store.State).Cache(),
		Headers: o.Corpus.Headers, Context: o.Corpus.Context,
		Exclude: o.ownFiles(),
		Note:    s.note, Warn: s.warn,
	})
}

// choose picks the selected cases.
func (s *session) choose() error {
	all := s.corpus.Cases()
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	chosen, wanted := s.chooser.Choose(names), s.o.Select.only()
	if len(chosen) == len(all) && s.o.Select.Only == nil {
		s.cases = all
	} else {
		for _, i := range chosen {
			if wanted(all[i].Name) {
				s.cases = append(s.cases, all[i])
			}
		}
	}
	switch {
	case len(all) == 0:
		return fault.Emptyf("%s holds no case", s.o.Corpus.Path)
	case len(s.cases) == 0 && s.name != report.CheckCommand: // there what is missing counts, too
		return s.nothing()
	}
	return nil
}

// nothing says that no case is selected.
func (s *session) nothing() error {
	return fault.Emptyf("none of the %d cases of %s is selected", len(s.corpus.Cases()), s.o.Corpus.Path)
}

func (s *session) note(text string) { s.emit(report.Note{Text: text}) }

func (s *session) warn(text string) { s.emit(report.Note{Text: text, Warning: true}) }

// emit passes an event on. A broken output is told at the end; it must not end
// the run, whose golden is worth more.
func (s *session) emit(e report.Event) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	if err := s.out.Handle(e); s.broken == nil {
		s.broken = err
	}
}

// startCrew brings up the lanes.
func (s *session) startCrew(ctx context.Context, keep string) error {
	if len(s.o.Helper) == 0 {
		return fault.Environmentf("no lane helper: Options.Helper is empty")
	}
	lanes := max(1, min(s.o.Limits.Jobs, len(s.cases)))
	err := enoughFiles(lanes)
	if err != nil {
		return err
	}
	s.crew, err = local.Start(ctx, local.Options{
		Lanes: lanes, Helper: s.o.Helper, Corpus: s.corpus, Env: s.o.Command.environment(),
		Timeout: s.o.Limits.Timeout, Grace: s.o.Limits.Grace,
		MemoryMax: max(0, s.o.Limits.Memory), OutputMax: s.o.Limits.OutputMax,
		Keep: keep, Note: s.note, Warn: s.warn,
	})
	return err
}

// verdict counts and tells a case's final word.
func (s *session) verdict(e report.Case) {
	s.summary.Verdicts[e.Verdict]++
	if e.Verdict != outcome.Identical {
		s.results = append(s.results, placed{e.Index, state.Result{
			Name: []byte(e.Name), Verdict: e.Verdict, Why: e.Why,
			Stopped: stopped(e),
		}})
		if stopped(e) && (e.Verdict == outcome.New || e.Verdict == outcome.Flaky) {
			s.summary.Stopped++
		}
	}
	s.emit(e)
}

// stopped reports whether a signal or a limit ended a case, and did not in the
// golden.
func stopped(e report.Case) bool {
	if e.Ending == nil || e.Ending.Kind == outcome.Exited {
		return false
	}
	return e.GoldenEnding == nil || *e.GoldenEnding != *e.Ending
}

// notRun counts and tells the cases that a run did not get to.
func (s *session) notRun(judged func(index int) bool) {
	for i, e := range s.cases {
		if !judged(i) {
			s.summary.NotRun++
			s.emit(report.NotRun{Name: e.Name, Index: i})
		}
	}
}

// finish fills in the figures of the summary, tells the reporters, and keeps
// the run, which err broke off unless it is nil.
func (s *session) finish(err error) error {
	broke := fault.ClassOf(err)
	if e := s.closeCrew(); err == nil {
		err = e
	}
	sum := &s.summary
	sum.Command, sum.Cases = s.name, len(s.cases)+s.counted
	sum.Interrupted = broke == fault.Interrupted
	if s.run != nil {
		sum.Run = s.run.ID
	}
	sum.Wall = time.Since(s.began)
	if sum.Wall > 0 {
		sum.CoresBusy = (sum.CPU + sum.OwnCPU).Seconds() / sum.Wall.Seconds()
	}
	sum.ExitStatus = s.o.status(*sum, broke)
	s.emit(report.Finished{Summary: *sum})
	if s.run == nil {
		return err
	}
	s.run.Finished = broke == fault.None
	if e := s.keep(); err == nil {
		err = e
	}
	return err
}

// placed is a result and where its case stands in the corpus.
type placed struct {
	index  int
	result state.Result
}

// keep writes down what the run came to.
func (s *session) keep() (err error) {
	slices.SortFunc(s.results, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.index, b.index), bytes.Compare(a.result.Name, b.result.Name))
	})
	results := make([]state.Result, len(s.results))
	for i, p := range s.results {
		results[i] = p.result
	}
	if s.run.Summary, err = marshal(keptOf(s.summary)); err != nil {
		return err
	}
	if err := s.run.SaveResults(results); err != nil {
		return err
	}
	return s.run.Save()
}

func (s *session) closeCrew() error {
	if s.crew == nil {
		return nil
	}
	err := s.crew.Close()
	s.summary.OwnCPU = usedCPU() - s.usedAt + s.crew.OwnCPU()
	s.crew = nil
	return err
}

// usedCPU returns what this process itself has used since it began.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// close releases everything, however far the session got.
func (s *session) close() error {
	errs := []error{s.closeCrew()}
	if s.corpus != nil {
		errs = append(errs, s.corpus.Close())
	}
	if err := s.out.Close(); s.broken == nil {
		s.broken = err
	}
	errs = append(errs, s.broken)
	if s.unlock != nil {
		s.unlock()
	}
	return errors.Join(errs...)
}
