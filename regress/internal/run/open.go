package run

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/console"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/crew"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// New returns a run of a job. Nothing is open yet.
func New(j job.Job, h host.Host) (*Run, error) {
	if err := checkSurroundings(&j.Options); err != nil {
		return nil, err
	}
	r := &Run{
		Job: j, Host: h, Began: time.Now(), State: state.Open(j.Store.State), Inputs: &Inputs{}, Tool: &Tool{},
		Comparer: content.NewComparer(j.Rules), Differences: analyse.NewCollector(j.Rules),
	}
	reportTo(r, report.Tee{})
	r.Execution = NewExecution(crewOptions(r), j.Ignored)
	return r, nil
}

// checkSurroundings refuses options that this machine, or a file on it, cannot serve.
func checkSurroundings(o *regress.Options) error {
	if err := crew.CheckJobs(o.Limits.Jobs); err != nil {
		return err
	}
	err := console.CheckApart(&o.Report, console.File{Role: "the corpus", Path: o.Corpus.Path}, console.File{Role: "--golden", Path: o.Store.Golden})
	if err != nil {
		return err
	}
	return console.CheckReplaceable(&o.Report)
}

// Open opens the corpus and the reports of a job, and selects its cases, by the golden base unless
// that is nil. On an error nothing stays open.
func Open(ctx context.Context, j job.Job, h host.Host, base *golden.Store) (_ *Run, err error) {
	r, err := New(j, h)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if j.Name == regress.RecordCommand || j.Name == regress.CheckCommand || j.Name == regress.CompareCommand {
		if err := r.Lock(); err != nil {
			return nil, err
		}
	}
	if err := OpenReporters(r); err != nil {
		return nil, err
	}
	noteRecordedSelection(r)
	c, err := openCorpus(ctx, r)
	if err != nil {
		return nil, err
	}
	r.Inputs = NewInputs(c, r.Job.Corpus.Path)
	warnOfReports(r)
	if err := resumeOnly(r); err != nil {
		return nil, err
	}
	return r, chooseCases(r, base)
}

// OpenReporters makes a run report as its options say.
func OpenReporters(r *Run) error {
	out, err := console.Open(&r.Job.Report, r.Host, false)
	if err == nil {
		reportTo(r, out)
	}
	return err
}

// openCorpus opens the corpus that the options name.
func openCorpus(ctx context.Context, r *Run) (*corpus.Corpus, error) {
	o := &r.Job.Options
	if o.Corpus.Path == "" {
		return nil, fault.Inputf("no corpus: name an archive, a folder or - for a tar on standard input, here or as corpus in muster.toml")
	}
	return corpus.Open(ctx, corpus.Options{
		Path: o.Corpus.Path, Stdin: r.Host.Stdin,
		Spool:   r.State.Cache(),
		Headers: o.Corpus.Headers, Context: o.Corpus.Context,
		Exclude: listOwnFiles(o),
		Note:    r.Events.Note, Warn: r.Events.Warn,
	})
}

// warnOfReports warns of reports among the cases of a folder corpus. This run leaves them out. A
// run that does not name them takes them for cases.
func warnOfReports(r *Run) {
	root := r.Inputs.Corpus.Root()
	if root == "" {
		return
	}
	for _, path := range console.Paths(&r.Job.Report) {
		abs, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		if name, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(name) && r.Job.Chooser.Wants(name) {
			r.Events.Warn(path + " is a report, and lies among the cases: a later run would take it for one; write it elsewhere")
		}
	}
}
