package regress

import (
	"context"
	"errors"
	"time"

	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/crew"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/normalize"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// newSession checks the options. Nothing is open yet.
func newSession(o *Options, h host.Host, name string) (s *session, err error) {
	began := time.Now()
	own, err := job.Complete(*o, name)
	if err != nil {
		return nil, err
	}
	o = &own
	if err := checkSurroundings(o); err != nil {
		return nil, err
	}
	s = &session{o: o, host: h, name: name, began: began, state: state.Open(o.Store.State), in: &run.Inputs{}, tool: &run.Tool{}}
	s.reportTo(report.Tee{})
	if s.rules, err = normalize.Parse(o.Judge.Normalize); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	s.comparer, s.differences = content.NewComparer(s.rules), analyse.NewCollector(s.rules)
	if s.ignored, err = content.ParseIgnore(o.Judge.Ignore); err != nil {
		return nil, err
	}
	s.exec = run.NewExecution(crewOptions(s), s.ignored)
	if s.chooser, err = job.PlanSelection(&o.Select).Compile(); err != nil {
		return nil, fault.Inputf("%w", err)
	}
	return s, nil
}

// checkSurroundings refuses options that this machine, or a file on it, cannot serve.
func checkSurroundings(o *Options) error {
	if err := crew.CheckJobs(o.Limits.Jobs); err != nil {
		return err
	}
	if err := checkDistinct(o); err != nil {
		return err
	}
	return checkReplaceable(&o.Report)
}

// open checks the options and opens the corpus. On an error nothing stays open.
func open(ctx context.Context, o *Options, h host.Host, name string) (*session, error) {
	return openAgainst(ctx, o, h, name, nil)
}

// openAgainst is open for a command that chooses its cases by a golden, unless that is nil.
func openAgainst(ctx context.Context, o *Options, h host.Host, name string, base *golden.Store) (_ *session, err error) {
	s, err := newSession(o, h, name)
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
	if err := reportAsAsked(s); err != nil {
		return nil, err
	}
	noteRecordedSelection(s)
	c, err := openCorpus(ctx, s)
	if err != nil {
		return nil, err
	}
	s.in = run.NewInputs(c, s.o.Corpus.Path)
	warnOfReports(s)
	if err := resumeOnly(s); err != nil {
		return nil, err
	}
	return s, chooseCases(s, base)
}

// openCorpus opens the corpus that the options name.
func openCorpus(ctx context.Context, s *session) (*corpus.Corpus, error) {
	o := s.o
	if o.Corpus.Path == "" {
		return nil, fault.Inputf("no corpus: name an archive, a folder or - for a tar on standard input, here or as corpus in muster.toml")
	}
	return corpus.Open(ctx, corpus.Options{
		Path: o.Corpus.Path, Stdin: s.host.Stdin,
		Spool:   state.Open(o.Store.State).Cache(),
		Headers: o.Corpus.Headers, Context: o.Corpus.Context,
		Exclude: listOwnFiles(o),
		Note:    s.events.Note, Warn: s.events.Warn,
	})
}
