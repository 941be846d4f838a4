package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
)

// A line holds at most the bounded differences of one case; a longer one is
// not from us.
const eventBytesMax = 16 << 20

// ErrCutOff is the error of a last line that was cut off when its run was killed.
var ErrCutOff = errors.New("the line is cut off")

// ReadEvents yields the events that NewEvents wrote. What is damaged ends them
// with an Input error that names the line; so does a last line that was cut
// off (ErrCutOff), after all that came before.
func ReadEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := &eventLines{r: bufio.NewReaderSize(r, 64<<10)}
		err := lines.header()
		for err == nil {
			var ev Event
			if ev, err = lines.event(); err == nil && !yield(ev, nil) {
				return
			}
		}
		if err != io.EOF {
			yield(nil, err)
		}
	}
}

// eventLines reads an events file line by line.
type eventLines struct {
	r      *bufio.Reader
	number int // of the line read last, from 1
}

func (l *eventLines) damaged(err error) error {
	return fault.Inputf("events, line %d: %w", l.number, err)
}

// next returns the next line without its newline; io.EOF after the last.
func (l *eventLines) next() ([]byte, error) {
	l.number++
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > eventBytesMax:
			return nil, l.damaged(fmt.Errorf("longer than %s", readable.Count(eventBytesMax, "byte")))
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case err == io.EOF && len(line) > 0:
			return nil, l.damaged(ErrCutOff)
		case err == io.EOF:
			return nil, err
		case err != bufio.ErrBufferFull:
			return nil, fault.Environmentf("reading events: %w", err)
		}
	}
}

func (l *eventLines) header() error {
	line, err := l.next()
	if err != nil && err != io.EOF {
		return err
	}
	var h wireHeader
	if err := json.Unmarshal(line, &h); err != nil || h.Type != "events" {
		return l.damaged(errors.New("this is no events file"))
	}
	if h.Version != eventsVersion {
		return l.damaged(fmt.Errorf("events of version %d, and this muster reads %d", h.Version, eventsVersion))
	}
	return nil
}

func (l *eventLines) event() (Event, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	ev, err := fromWire(line)
	if err != nil {
		return nil, l.damaged(err)
	}
	return ev, nil
}

func fromWire(line []byte) (Event, error) {
	var t struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &t); err != nil {
		return nil, err
	}
	switch t.Type {
	case "started":
		return decode(line, wireStarted.event)
	case "pass_started":
		return decode(line, func(w wirePassStarted) Event {
			return PassStarted{w.Pass, w.Runs, w.Expected.duration(), w.Costs, w.At}
		})
	case "case_started":
		return decode(line, func(w wireCaseStarted) Event { return CaseStarted{string(w.Name), w.Pass, w.At} })
	case "case_ran":
		return decode(line, func(w wireCaseRan) Event {
			return CaseRan{string(w.Name), w.Pass, w.Old, w.Differs, figure(w.CPU).duration(), w.Wall.duration(), w.Expected.duration(), w.Engine.engineRun(), w.At}
		})
	case "engine":
		return decode(line, wireEngine.event)
	case "note":
		return decode(line, func(w wireNote) Event { return Note{w.Text, w.Warning} })
	case "case":
		return decode(line, wireCase.event)
	case "not_run":
		return decode(line, func(w wireNotRun) Event { return NotRun{string(w.Name), w.Index} })
	case "group":
		return decode(line, wireGroup.event)
	case "cost":
		return decode(line, wireCost.event)
	case "finished":
		var w wireFinished
		if err := json.Unmarshal(line, &w); err != nil {
			return nil, err
		}
		return w.event()
	}
	return nil, fmt.Errorf("event %q is not known", t.Type)
}

func decode[W any](line []byte, event func(W) Event) (Event, error) {
	var w W
	if err := json.Unmarshal(line, &w); err != nil {
		return nil, err
	}
	return event(w), nil
}

func verdicts(words []verdictWord) (list []outcome.Verdict) {
	for _, v := range words {
		list = append(list, outcome.Verdict(v))
	}
	return list
}

func (w wireStarted) event() Event {
	return Started{
		Command: w.Command, Run: w.Run, Corpus: w.Corpus, Tool: w.Tool, Against: w.Against,
		Cases: w.Cases, Jobs: w.Jobs, Resumed: w.Resumed, Allowed: verdicts(w.Allowed), Expected: w.Expected.duration(), At: w.At,
	}
}

func (w wireCase) event() Event {
	c := Case{
		Name: string(w.Name), Index: w.Index, Verdict: outcome.Verdict(w.Verdict),
		Ending: w.Ending.ending(), GoldenEnding: w.GoldenEnding.ending(),
		Cost: outcome.Cost{CPU: figure(w.CPU).duration(), Wall: w.Wall.duration(), PeakRSS: figure(w.PeakRSS)},
		More: w.More, Why: w.Why, Unstable: w.Unstable, Engine: w.Engine.engineRun(),
	}
	for _, d := range w.Differences {
		c.Differences = append(c.Differences, Difference{string(d.Part), d.Old, d.Now, d.Diff, d.Hidden, d.Binary})
	}
	for _, part := range w.Flaky {
		c.Flaky = append(c.Flaky, string(part))
	}
	for _, part := range w.Masked {
		c.Masked = append(c.Masked, string(part))
	}
	for _, part := range w.Ignored {
		c.Ignored = append(c.Ignored, string(part))
	}
	return c
}

func (w wireGroup) event() Event {
	g := Group{Excerpt: w.Excerpt, Cause: cause.Cause{
		ID: w.ID, Signature: w.Signature, Name: w.Name, Kind: w.Kind, Family: w.Family,
		Cases: w.Cases, Lines: w.Lines, Sole: w.Sole, Example: string(w.Example), Smallest: string(w.Smallest), Folded: w.Folded,
	}}
	for _, name := range w.Members {
		g.Members = append(g.Members, string(name))
	}
	return g
}

func (w wireFinished) event() (Event, error) {
	s := Summary{
		Command: w.Command, Run: w.Run, Cases: w.Cases, Recorded: w.Recorded, NotRun: w.NotRun,
		Endings: Endings(w.Endings), Failing: failuresFromWire(w.Failing), Interrupted: w.Interrupted, BrokeOff: w.BrokeOff, Mixed: w.Mixed, Stopped: w.Stopped, Groups: w.Groups, ExitStatus: w.ExitStatus,
		Wall: w.Wall.duration(), CPU: figure(w.CPU).duration(), OwnCPU: w.OwnCPU.duration(), CoresBusy: w.CoresBusy, Merged: w.Merged, Over: w.Over,
		Engine: w.Engine.runs(),
	}
	if w.Masked != nil {
		s.Masked = Masked(*w.Masked)
	}
	for _, path := range w.ToolChanged {
		s.ToolChanged = append(s.ToolChanged, string(path))
	}
	s.Selection, s.NotSampled, s.Sources, s.Settings = w.Selection, w.NotSampled, w.Sources.sources(), w.Settings
	for key, n := range w.Verdicts {
		var v outcome.Verdict
		if err := v.UnmarshalText([]byte(key)); err != nil {
			return nil, err
		}
		s.Verdicts[v] = n
	}
	return Finished{s}, nil
}
