package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"muster/internal/readable"
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
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/sample"
	"muster/regress/internal/state"
)

// Begin makes the folder of the run, or takes over the folder of the interrupted run of the command
// that --resume asks for. It refuses to resume a run with another identity.
func (r *Run) Begin(id map[string]string, base outcome.Digest) (err error) {
	r.Ledger.begun = r.Ledger.Summary
	info := state.Info{Command: r.Job.Name, Started: r.Began, Identity: id, Golden: base.String()}
	if info.Options, err = job.Encode(&r.Job.Options); err != nil {
		return err
	}
	if r.Job.Store.Resume {
		last, err := r.State.Unfinished(r.Job.Name)
		if err != nil {
			return err
		}
		if last != nil {
			return r.resume(last, info)
		}
		r.Events.Note("--resume: no " + r.Job.Name + " was interrupted, so this one begins anew")
	}
	r.Folder, err = r.State.NewRun(info)
	return err
}

func (r *Run) resume(last *state.Run, info state.Info) error {
	was, now := withoutTool(last.Identity), withoutTool(info.Identity)
	if key := FirstDifference(was, now); key != "" {
		return refuseResume(last, key)
	}
	if err := refuseChangedTool(last.Identity, info.Identity, last.ID); err != nil {
		return err
	}
	r.Folder, r.Resumed = last, true
	last.Identity = info.Identity // the interrupted run may have none of a tool
	last.Options = info.Options   // what may differ, such as --jobs, is as it is now
	return last.Save()
}

// Drop removes the folder of a run that could not begin, so that accept, show and rerun do not take
// it for the last run. It leaves the folder of a resumed run.
func (r *Run) Drop() error {
	if r.Folder == nil || r.Resumed {
		return nil
	}
	folder := r.Folder
	r.Folder = nil
	return folder.Remove()
}

// Forget withdraws all verdicts of a run whose tool changed while cases ran: some may be of another tool. It removes the
// folder, so that nothing resumes the run. Emit report.Started before, which begins the reports anew.
func (r *Run) Forget() error {
	was := *r.Ledger
	*r.Ledger = Ledger{Summary: was.begun, begun: was.begun, events: was.events, unused: was.unused}
	r.Ledger.Summary.CPU = was.Summary.CPU
	folder := r.Folder
	r.Folder = nil
	return folder.Remove()
}

// NewSample prepares to run a sample of finished cases again. On an engine no sample is needed:
// the preflight detects another tool.
func NewSample(r *Run, retries int) *sample.Sample {
	return &sample.Sample{
		RunID: r.Folder.ID, Executor: r.Execution.Executor, Goroutines: r.Width().Goroutines,
		Comparer: r.Comparer, Retries: retries, Note: r.Events.Note,
	}
}

// refuseResume returns the error for a run whose identity differs in a key.
func refuseResume(last *state.Run, key string) error {
	if strings.HasPrefix(key, stampOf) {
		return fault.Inputf("--resume: %s was written to or replaced since run %s began, and may have had other content meanwhile: run without --resume", key, last.ID)
	}
	mend := ""
	if key == "the command" {
		if o, err := job.Decode(last); err == nil && len(o.Command.Words) > 0 {
			mend = ": -- " + readable.Line(name.QuoteAll(o.Command.Words))
		}
	}
	return fault.Inputf("--resume: %s is not what it was in run %s: run without --resume, or put it back%s", key, last.ID, mend)
}

// refuseChangedTool refuses to resume a run if a file or a place of the tool changed since, or was written to.
func refuseChangedTool(was, now map[string]string, run string) error {
	ofTool := func(id map[string]string) map[string]string {
		id = maps.Clone(id)
		maps.DeleteFunc(id, func(key, _ string) bool { return !isOfTool(key) })
		return id
	}
	key := FirstDifference(ofTool(was), ofTool(now))
	if key == "" || !hasTool(was) {
		return nil
	}
	if isOlder(was) {
		return fault.Inputf("--resume: an earlier muster began run %s, and noted the tool in another way: run without --resume", run)
	}
	path := strings.TrimPrefix(strings.TrimPrefix(key, toolFile), toolPlace)
	return fault.Inputf("--resume: %s, which the tool uses, changed or was written to since run %s began: run without --resume", path, run)
}

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
	r.Execution = &Execution{Crew: crew.NewHere(crewOptions(r)), ignored: j.Ignored, usedAt: crew.UsedCPU()}
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
	out, err := console.Open(&r.Job.Report, r.Host)
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

// Finish completes the summary, reports it, and saves the run. err is the error that ended the run,
// or nil.
func (r *Run) Finish(err error) error {
	r.Execution.Crew.Quiet()
	broke := regress.ClassOf(err)
	err = cmp.Or(err, r.Execution.Stop())
	sum := &r.Ledger.Summary
	sum.Command, sum.Cases = r.Job.Name, len(r.Inputs.Cases)+r.Ledger.Absent
	sum.Interrupted, sum.BrokeOff = broke == regress.Interrupted, broke != regress.None
	if r.Folder != nil {
		sum.Run = r.Folder.ID
	}
	sum.Tool.Files, sum.Tool.Observed, sum.Tool.Varying = r.Tool.count()
	sum.Wall = time.Since(r.Began)
	sum.OwnCPU = r.Execution.OwnCPU
	sum.Engine = r.Execution.Crew.Sum()
	if r.Execution.Crew.IsRemote() {
		sum.CoresBusy = sum.OwnCPU.Seconds() / max(sum.Wall, 1).Seconds()
	} else if sum.Wall > 0 && sum.Merged == 0 {
		sum.CoresBusy = (sum.CPU + sum.OwnCPU).Seconds() / sum.Wall.Seconds()
	}
	sum.ExitStatus = job.ExitStatus(&r.Job.Options, *sum, broke)
	if broke == regress.None && sum.NotRun == 0 {
		for _, text := range r.Ledger.unused.notes(len(r.Inputs.Cases)) {
			r.Events.Note(text)
		}
		for _, rule := range r.Execution.tried.Unmatched() {
			r.Events.Note(fmt.Sprintf("--normalize %q matches nothing in the output of %s", rule, readable.Cases(len(r.Inputs.Cases))))
		}
		warnSilent(r)
	}
	r.Events.Emit(report.Finished{Summary: *sum})
	if r.Folder == nil {
		return err
	}
	r.Folder.Finished = broke == regress.None
	return cmp.Or(err, save(r.Folder, r.Ledger))
}

// save writes the summary and the results of a run.
func save(r *state.Run, l *Ledger) (err error) {
	if r.Summary, err = state.Encode(state.SummaryOf(l.Summary)); err != nil {
		return err
	}
	if err := r.SaveResults(l.Results()); err != nil {
		return err
	}
	return r.Save()
}

// ReportGroups finds the causes of all collected differences, reports them, and saves them with the
// run.
func (r *Run) ReportGroups(sides analyse.SidesOf) error {
	found := r.Differences.Causes()
	r.Ledger.Summary.Groups = len(found.Causes)
	err := analyse.EmitGroups(found, r.Job.Rules, sides, func(g report.Group) { r.Events.Emit(g) })
	if err != nil || r.Folder == nil {
		return err
	}
	encoded, err := found.Encode()
	if err != nil {
		return err
	}
	return r.Folder.SaveCauses(encoded)
}

// WatchRules makes Finish note those rules of --normalize that match nothing. Call it before
// Execution.Start. It does nothing if muster may not see all outputs: on an engine, with reused outcomes,
// and in a run that is resumed.
func (r *Run) WatchRules() {
	if !r.Execution.Crew.IsRemote() && job.ReuseFlag(&r.Job.Store) == "" && !r.Job.Store.Resume {
		r.Execution.tried = r.Job.Rules
	}
}
