package past

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/console"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Replay shows a run that --events wrote to the file at path, or to h.Stdin for "-". It writes the
// reports that o.Report names, and returns the summary of the run. If the file ends early, Replay
// reports the run as interrupted, and warns of what is missing. If the file is damaged, Replay shows
// what is before the damage, and returns an error.
func Replay(ctx context.Context, o regress.Options, h host.Host, path string) (sum regress.Summary, err error) {
	if err := errors.Join(console.CheckApart(&o.Report, console.File{Role: "the events", Path: path}), console.CheckReplaceable(&o.Report)); err != nil {
		return sum, err
	}
	file, err := openEvents(path, h.Stdin)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	out, err := console.Open(&o.Report, h, true)
	if err != nil {
		return sum, err
	}
	r := &replay{out: out}
	defer func() { err = errors.Join(err, r.broken, out.Close()) }()
	return r.run(ctx, file)
}

func openEvents(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.Inputf("no events: %w", err)
	}
	if err != nil {
		return nil, fault.Environmentf("events: %w", err)
	}
	return f, nil
}

// replay follows a recorded run, and sums up one that did not.
type replay struct {
	out      report.Reporter
	broken   error // the first error of out
	started  report.Started
	begun    bool
	finished bool
	sum      regress.Summary   // as recorded once finished, else what is there
	runs     *report.EngineSum // on an engine; nil of a run on this machine
	last     time.Time

	sent, received int64
}

func (r *replay) run(ctx context.Context, file io.Reader) (regress.Summary, error) {
	var damage error
	for ev, err := range report.ReadEvents(file) {
		switch {
		case ctx.Err() != nil:
			return r.sum, ctx.Err()
		case err != nil && !errors.Is(err, report.ErrCutOff):
			damage = err
		case err == nil && !r.finished:
			r.see(ev)
			r.emit(ev)
		}
	}
	switch {
	case !r.begun && damage == nil:
		return r.sum, fault.Inputf("the events end before the run began: there is nothing to show")
	case r.begun && !r.finished:
		r.end()
	}
	return r.sum, damage
}

// emit passes an event on. If the reader of one report goes away, the other reports go on.
func (r *replay) emit(ev report.Event) {
	if err := r.out.Handle(ev); r.broken == nil {
		r.broken = err
	}
}

func (r *replay) see(ev report.Event) {
	switch ev := ev.(type) {
	case report.Started:
		r.started, r.begun, r.last = ev, true, ev.At
		r.sum = regress.Summary{CPU: r.sum.CPU}
	case report.CaseRan:
		r.sum.CPU += ev.CPU
		r.last = ev.At
		r.seeEngineRun(ev)
	case report.Engine:
		r.sent, r.received = ev.Sent, ev.Received
	case report.Case:
		r.sum.Verdicts[ev.Verdict]++
		if ev.Reused {
			r.sum.Reused++
		}
		if ev.Forked {
			r.sum.Forked++
		}
		if ev.Ending != nil && ev.Verdict != regress.EnvironmentFailed {
			r.sum.Endings.Add(*ev.Ending)
		}
	case report.Retracted:
		r.sum.Retracted++
	case report.NotRun:
		r.sum.NotRun++
	case report.Group:
		r.sum.Groups++
	case report.Finished:
		r.sum, r.finished = ev.Summary, true
	}
}

func (r *replay) seeEngineRun(ev report.CaseRan) {
	if ev.Engine == nil {
		return
	}
	if r.runs == nil {
		r.runs = &report.EngineSum{}
	}
	r.runs.Add(ev.Name, ev.Engine, ev.At)
}

// end sums up an interrupted run, whose events have no end.
func (r *replay) end() {
	s := &r.sum
	s.Command, s.Run, s.Interrupted, s.BrokeOff, s.ExitStatus = r.started.Command, r.started.Run, true, true, regress.StatusInterrupted
	judged := 0
	for _, n := range s.Verdicts {
		judged += n
	}
	s.Cases = max(r.started.Cases, judged)
	s.NotRun = s.Cases - judged
	s.Wall = r.last.Sub(r.started.At)
	if r.runs != nil {
		s.Engine = r.runs.Runs()
		s.Engine.Jobs, s.Engine.Sent, s.Engine.Received = r.started.Jobs, r.sent, r.received
	} else if s.Wall > 0 {
		s.CoresBusy = s.CPU.Seconds() / s.Wall.Seconds()
	}
	r.emit(report.Note{Warning: true, Text: "the events end before the run did, which was killed or still runs: " + r.missing()})
	r.emit(report.Finished{Summary: *s})
}

// missing says what a run that has no end lacks.
func (r *replay) missing() string {
	var lacks []string
	switch n := r.sum.NotRun; {
	case n == 1:
		lacks = append(lacks, "1 of "+readable.Cases(r.sum.Cases)+" has no verdict")
	case n > 1:
		lacks = append(lacks, readable.Number(n)+" of "+readable.Cases(r.sum.Cases)+" have no verdict")
	}
	if r.sum.Groups == 0 && r.sum.Command != regress.RecordCommand {
		lacks = append(lacks, "causes were not looked for")
	}
	return strings.Join(append(lacks, "its own figures are missing"), ", ")
}

// RerunOptions returns the last run's command, such as "check", and its options: for all cases, or only for
// those that were not identical. It takes from o the state folder, and the options that are not kept
// with a run.
func RerunOptions(o regress.Options, failed bool) (again regress.Options, command string, err error) {
	last, err := state.Open(o.Store.State).Last(func(*state.Run) bool { return true }, "run to do again yet: muster record makes the first one, and muster check the next")
	if err != nil {
		return again, "", err
	}
	again, err = job.Decode(last)
	if err != nil {
		return again, "", err
	}
	job.OverrideKept(&again, &o)
	again.Select.Only = nil // it belongs to the last run, not to its options
	if failed {
		if err := selectFailed(&again, last); err != nil {
			return again, "", err
		}
	}
	return again, last.Command, nil
}

// selectFailed restricts the options to the cases that were not identical in a run.
func selectFailed(o *regress.Options, r *state.Run) (err error) {
	if !state.IsCheck(r) {
		return fault.Inputf("the last run, %s, was a %s: --failed needs a check", r.ID, r.Command)
	}
	if !r.Finished {
		return fault.Inputf("the last run, %s, did not finish: go on with the same %s and --resume first, or leave out --failed", r.ID, r.Command)
	}
	names, err := state.NotIdentical(r)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fault.Emptyf("run %s had nothing that was not identical", r.ID)
	}
	o.Select.Only = slices.Sorted(maps.Keys(names))
	return nil
}

// reproduceCase returns the shell line that runs one case of a past run in a folder
// that stays. It names every option in which that run differs from what the
// line would take from the golden, or by default; what is configured is kept
// from it.
func reproduceCase(ctx context.Context, o *regress.Options, h host.Host, raw, keep string, words []string, configured bool) string {
	without := completeRun(ctx, o, h, words)
	args := []string{"muster", job.RunCommand, name.Typed(raw), o.Corpus.Path, "--keep", keep}
	args = append(args, job.ListEngineArgs(&o.Remote, configured)...)
	if without.Store.Golden != regress.GoldenDefault {
		args = append(args, "--golden", without.Store.Golden)
	}
	for _, setting := range job.OutcomeSettings() {
		if setting.Scope != job.OfVerdict && setting.Scope != job.OfIdentity && setting.Text(o) != setting.Text(&without) {
			args = append(args, setting.Args(o)...)
		}
	}
	return name.QuoteAll(append(append(args, "--"), words...))
}

// completeRun returns the options of `muster run` if only the command is given: those of the
// golden. If the golden has a list that o lacks, they are empty, and the line names no golden.
func completeRun(ctx context.Context, o *regress.Options, h host.Host, words []string) regress.Options {
	t := regress.Options{Command: regress.Command{Words: words}, Store: o.Store}
	recorded, err := place.Recorded(ctx, t.Store.Golden, place.NewOptions(t.Store.State, h.Files))
	if recorded != nil {
		job.TakeRecorded(&t, *recorded)
	}
	for _, lists := range [][2][]string{
		{t.Corpus.Headers, o.Corpus.Headers}, {t.Corpus.Context, o.Corpus.Context},
		{t.Command.Env, o.Command.Env}, {t.Command.PassEnv, o.Command.PassEnv},
	} {
		if err != nil || len(lists[0]) > 0 && len(lists[1]) == 0 {
			t = regress.Options{} // --golden '' means no golden
			break
		}
	}
	job.CompleteLimits(&t.Limits)
	return t
}
