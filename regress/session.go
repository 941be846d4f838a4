package regress

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/pass"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// session is one command over a corpus, from its opening to its summary. The
// goroutine that opened it owns it, and lends it to whoever takes a result in a
// pass; who runs cases (runTasks, once) uses what does not change, and emits events.
type session struct {
	o       *Options
	name    string // of the command
	began   time.Time
	usedAt  time.Duration // CPU that this process had used by then
	rules   normalize.Rules
	ignored content.Ignoring
	idle    idleGlobs // of ignored, as watchIgnored says
	chooser *plan.Chooser
	state   *state.State
	unlock  func()
	run     *state.Run
	resumed bool // run was begun by another process

	events *run.Events

	corpus  *corpus.Corpus
	digests corpus.Digests // once they are known
	cases   []corpus.Entry // selected, in corpus order
	lacking []string       // names of the golden that are selected and that the corpus lacks
	command command
	crew    exec.Executor
	engine  *engine // nil: the cases run on this machine

	comparer content.Comparer

	settling    settling
	differences *analyse.Collector

	ticks     <-chan time.Time // when the tool's files are looked at; nil = every toolEvery
	stopTicks func()

	due     pass.Durations // how long each case should take in the present pass, complete
	summary Summary
	absent  int // cases that count, and that the corpus does not have
	results []placed
}

// newSession checks the options. Nothing is open yet.
func newSession(o *Options, name string) (s *session, err error) {
	began := time.Now()
	own, err := completeOptions(*o, name)
	if err != nil {
		return nil, err
	}
	o = &own
	s = &session{o: o, name: name, began: began, usedAt: usedCPU(), state: state.Open(o.Store.State), events: run.NewEvents(report.Tee{})}
	if s.rules, err = normalize.Parse(o.Judge.Normalize); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	s.comparer, s.differences = content.NewComparer(s.rules), analyse.NewCollector(s.rules)
	if s.ignored, err = content.ParseIgnore(o.Judge.Ignore); err != nil {
		return nil, err
	}
	if s.chooser, err = planSelection(&o.Select).Compile(); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	return s, nil
}

// open checks the options and opens the corpus. On an error nothing stays open.
func open(ctx context.Context, o *Options, name string) (*session, error) {
	return openAgainst(ctx, o, name, nil)
}

// openAgainst is open for a command that chooses its cases by a golden, unless that is nil.
func openAgainst(ctx context.Context, o *Options, name string, base *golden.Store) (_ *session, err error) {
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
	if err := s.openReporters(); err != nil {
		return nil, err
	}
	s.noteRecordedSelection()
	if s.corpus, err = s.openCorpus(ctx); err != nil {
		return nil, err
	}
	s.warnOfReports()
	if err := s.resumeOnly(); err != nil {
		return nil, err
	}
	return s, s.choose(base)
}

// openReporters opens what the options ask for.
func (s *session) openReporters() error {
	out, err := newReporters(&s.o.Report)
	if err == nil {
		s.events = run.NewEvents(out)
	}
	return err
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
		Exclude: listOwnFiles(o),
		Note:    s.events.Note, Warn: s.events.Warn,
	})
}

// contentOf reads an entry of the corpus.
func (s *session) contentOf(e corpus.Entry) ([]byte, error) {
	r, err := s.corpus.Open(e)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

// startCrew brings up the lanes, or has an engine run the cases.
func (s *session) startCrew(ctx context.Context, keep string) error {
	return s.startCrewOf(ctx, max(1, min(s.o.Limits.Jobs, len(s.cases))), keep)
}

// startCrewOf is startCrew with so many lanes. That counts here only: an engine has none.
func (s *session) startCrewOf(ctx context.Context, lanes int, keep string) error {
	if err := s.startAnyCrew(ctx, lanes, keep); err != nil {
		return err
	}
	s.crew = s.ignoringCrew(s.crew)
	return nil
}

func (s *session) startAnyCrew(ctx context.Context, lanes int, keep string) error {
	if s.engine != nil {
		return s.startEngine(ctx)
	}
	if s.o.startExecutor != nil {
		var err error
		s.crew, err = s.o.startExecutor(lanes)
		return err
	}
	if len(s.o.Helper) == 0 {
		return fault.Environmentf("no lane helper: Options.Helper is empty")
	}
	if err := checkLimits(lanes); err != nil {
		return err
	}
	crew, err := local.Start(ctx, local.Options{
		Lanes: lanes, Helper: s.o.Helper, Corpus: s.corpus, Env: caseEnvironment(&s.o.Command),
		Timeout: s.o.Limits.Timeout, Grace: s.o.Limits.Grace,
		MemoryMax: max(0, s.o.Limits.Memory), OutputMax: s.o.Limits.OutputMax,
		NoNetwork: s.o.Command.NoNetwork, Keep: keep, Note: s.events.Note, Warn: s.events.Warn,
	})
	if err == nil { // else it would be no nil of the interface
		s.crew = crew
	}
	return err
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
	s.engine.quiet()
	errs := []error{s.closeCrew()}
	s.engine.close()
	if s.corpus != nil {
		errs = append(errs, s.corpus.Close())
	}
	errs = append(errs, s.events.Close())
	if s.unlock != nil {
		s.unlock()
	}
	return errors.Join(errs...)
}
