package report

import (
	"bytes"
	"encoding/json"
	"io"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// EventsMark is what an events file begins with.
const EventsMark = `{"type":"events"`

// NewEvents returns a Reporter that writes every event as one JSON line, in
// one write, so that another program can follow the run. It closes w.
func NewEvents(w io.WriteCloser) (Reporter, error) {
	e := &events{w: w}
	return e, e.line(wireHeader{"events", eventsVersion})
}

type events struct {
	w      io.WriteCloser
	buffer bytes.Buffer
}

func (e *events) Handle(ev Event) error { return e.line(toWire(ev)) }
func (e *events) Close() error          { return e.w.Close() }

func (e *events) line(v any) error {
	e.buffer.Reset()
	if err := EncodeLine(&e.buffer, v); err != nil {
		return err
	}
	if _, err := e.w.Write(e.buffer.Bytes()); err != nil {
		return fault.Environmentf("--events: %w", err)
	}
	return nil
}

// EncodeLine writes v as one line, as all lines of JSON are written that muster puts out: "<"
// and "&" stay as they are, for what reads this is no browser.
func EncodeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func toWire(ev Event) any {
	switch ev := ev.(type) {
	case Started:
		return startedToWire(ev)
	case PassStarted:
		return wirePassStarted{"pass_started", ev.Pass, ev.Runs, millis(ev.Expected), ev.Costs, ev.At.UTC()}
	case CaseStarted:
		return wireCaseStarted{"case_started", printed(ev.Name), ev.Pass, ev.At.UTC()}
	case CaseRan:
		return wireCaseRan{"case_ran", printed(ev.Name), ev.Pass, ev.Old, ev.Differs, known(millis(ev.CPU), ev.Engine.IsMeasured()), millis(ev.Wall), millis(ev.Expected), toWireEngineRun(ev.Engine), ev.At.UTC()}
	case Engine:
		return engineToWire(ev)
	case Note:
		return wireNote{"note", readable.Text(ev.Text), ev.Warning}
	case Case:
		return caseToWire(ev)
	case NotRun:
		return wireNotRun{"not_run", printed(ev.Name), ev.Index}
	case Group:
		return groupToWire(ev)
	case Cost:
		return costToWire(ev)
	case Finished:
		return summaryToWire(ev.Summary)
	}
	panic("report: an event outside the closed set")
}

func startedToWire(s Started) wireStarted {
	return wireStarted{
		Type: "started", Command: readable.Text(s.Command), Run: readable.Text(s.Run),
		Corpus: readable.Text(s.Corpus), Tool: readable.Text(s.Tool), Against: readable.Text(s.Against),
		Cases: s.Cases, Jobs: s.Jobs, Resumed: s.Resumed, Allowed: verdictWords(s.Allowed), Expected: millis(s.Expected), At: s.At.UTC(),
	}
}

// verdictWords is never nil, so that the list is written as one.
func verdictWords(list []outcome.Verdict) []verdictWord {
	words := []verdictWord{}
	for _, v := range list {
		words = append(words, verdictWord(v))
	}
	return words
}

func caseToWire(c Case) wireCase {
	w := wireCase{
		Type: "case", Name: printed(c.Name), Index: c.Index, Verdict: verdictWord(c.Verdict),
		Ending: toWireEnding(c.Ending), GoldenEnding: toWireEnding(c.GoldenEnding),
		CPU: known(millis(c.Cost.CPU), c.measured()), Wall: millis(c.Cost.Wall), PeakRSS: known(c.Cost.PeakRSS, c.measured()),
		Differences: []wireDifference{}, More: c.More, Flaky: []printed{}, Why: readable.Text(c.Why),
		Unstable: c.Unstable, Engine: toWireEngineRun(c.Engine),
	}
	for _, d := range c.Differences {
		w.Differences = append(w.Differences, wireDifference{
			printed(d.Part), readable.Text(d.Old), readable.Text(d.Now), readable.Text(d.Diff), d.Hidden, d.Binary})
	}
	for _, part := range c.Flaky {
		w.Flaky = append(w.Flaky, printed(part))
	}
	for _, part := range c.Masked {
		w.Masked = append(w.Masked, printed(part))
	}
	for _, part := range c.Ignored {
		w.Ignored = append(w.Ignored, printed(part))
	}
	return w
}

func summaryToWire(s Summary) wireFinished {
	w := wireFinished{
		Type: "finished", Command: readable.Text(s.Command), Run: readable.Text(s.Run),
		Cases: s.Cases, Recorded: s.Recorded, NotRun: s.NotRun,
		Verdicts: map[string]int{}, Endings: wireEndings(s.Endings), Failing: failuresToWire(s.Failing),
		Interrupted: s.Interrupted, BrokeOff: s.BrokeOff, Mixed: s.Mixed, Stopped: s.Stopped, Groups: s.Groups, ExitStatus: s.ExitStatus,
		Wall: millis(s.Wall), CPU: known(millis(s.CPU), s.measured()), OwnCPU: millis(s.OwnCPU), CoresBusy: finite(s.CoresBusy), Merged: s.Merged, Over: texts(s.Over),
		Engine: toWireEngineRuns(s.Engine),
	}
	if s.Masked != (Masked{}) {
		w.Masked = (*wireMasked)(&s.Masked)
	}
	for _, path := range s.ToolChanged {
		w.ToolChanged = append(w.ToolChanged, printed(path))
	}
	w.Selection = readable.Text(s.Selection)
	w.NotSampled, w.Sources, w.Settings = s.NotSampled, sourcesToWire(s.Sources), texts(s.Settings)
	for v, n := range s.Verdicts {
		w.Verdicts[outcome.Verdict(v).Key()] = n
	}
	return w
}

func groupToWire(g Group) wireGroup {
	w := wireGroup{
		Type: "group", ID: g.ID, Signature: g.Signature, Name: readable.Text(g.Name), Kind: g.Kind, Family: readable.Text(g.Family),
		Cases: g.Cases, Lines: g.Lines, Sole: g.Sole, Example: printed(g.Example), Smallest: printed(g.Smallest),
		Folded: []string{}, Excerpt: readable.Text(g.Excerpt), Members: []printed{},
	}
	for _, name := range g.Folded {
		w.Folded = append(w.Folded, readable.Text(name))
	}
	for _, name := range g.Members {
		w.Members = append(w.Members, printed(name))
	}
	return w
}
