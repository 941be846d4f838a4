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
	"muster/regress/internal/report"
	"muster/regress/internal/run"
	"muster/regress/internal/state"
)

// newSession returns a session of which nothing is open.
func newSession(j job.Job, h host.Host) (*session, error) {
	if err := checkSurroundings(&j.Options); err != nil {
		return nil, err
	}
	s := &session{
		job: j, host: h, began: time.Now(), state: state.Open(j.Store.State), in: &run.Inputs{}, tool: &run.Tool{},
		comparer: content.NewComparer(j.Rules), differences: analyse.NewCollector(j.Rules),
	}
	s.reportTo(report.Tee{})
	s.exec = run.NewExecution(crewOptions(s), j.Ignored)
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

// open opens the corpus and the reports of a job, and selects its cases, by the golden base unless
// that is nil. On an error nothing stays open.
func open(ctx context.Context, j job.Job, h host.Host, base *golden.Store) (_ *session, err error) {
	s, err := newSession(j, h)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if j.Name == report.RecordCommand || j.Name == report.CheckCommand || j.Name == report.CompareCommand {
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
	s.in = run.NewInputs(c, s.job.Corpus.Path)
	warnOfReports(s)
	if err := resumeOnly(s); err != nil {
		return nil, err
	}
	return s, chooseCases(s, base)
}

// openCorpus opens the corpus that the options name.
func openCorpus(ctx context.Context, s *session) (*corpus.Corpus, error) {
	o := &s.job.Options
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
