package past

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/console"
	"muster/regress/internal/fault"
	"muster/regress/internal/report"
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
	case report.CaseRan:
		r.sum.CPU += ev.CPU
		r.last = ev.At
		r.seeEngineRun(ev)
	case report.Engine:
		r.sent, r.received = ev.Sent, ev.Received
	case report.Case:
		r.sum.Verdicts[ev.Verdict]++
		if ev.Ending != nil && ev.Verdict != regress.EnvironmentFailed {
			r.sum.Endings.Add(*ev.Ending)
		}
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
