package report

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/cost"
	"muster/regress/internal/outcome"
)

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// write returns the events file of a run.
func write(t interface{ Fatal(...any) }, events []Event) []byte {
	var b bytes.Buffer
	r, err := NewEvents(nopCloser{&b})
	if err != nil {
		t.Fatal(err)
	}
	handAll(t, r, events)
	return b.Bytes()
}

func read(file []byte) (events []Event, err error) {
	for ev, err := range ReadEvents(bytes.NewReader(file)) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

func TestEventsFile(t *testing.T) {
	file := write(t, checkRun())
	checkGolden(t, "events.jsonl", file)
	back, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	live, liveErr := feed(t, checkRun(), true, 80, text(Normal))
	again, againErr := feed(t, back, true, 80, text(Normal))
	if live != again || liveErr != againErr {
		t.Errorf("a replayed run reads otherwise:\n%s%s\nlive:\n%s%s", again, againErr, live, liveErr)
	}
}

// A file of version 2, which 0.1.0 wrote, stays readable for all later versions.
func TestEventsOfVersion2(t *testing.T) {
	file := `{"type":"events","version":2}
{"type":"started","command":"check","run":"r","cases":2,"jobs":2,"resumed":1,"allowed":["new","timed_out"],"at":"2025-01-31T14:25:01.5Z","added_later":{"x":[1]}}
{"type":"case_ran","name":"a%0A%25%FF","pass":1,"differs":true,"cpu_ms":12.345678,"wall_ms":1e3,"at":"2025-01-31T14:25:01.5Z"}
`
	got, err := read([]byte(file))
	at := epoch.Add(500 * time.Millisecond)
	want := []Event{
		Started{Command: "check", Run: "r", Cases: 2, Jobs: 2, Resumed: 1, Allowed: []regress.Verdict{regress.New, regress.NewlyTimedOut}, At: at},
		CaseRan{Name: "a\n%\xff", Pass: 1, Differs: true, CPU: 12345678, Wall: time.Second, At: at},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestDamagedEvents(t *testing.T) {
	const header = `{"type":"events","version":2}` + "\n"
	for file, want := range map[string]string{
		"":                                     "line 1: this is not an events file",
		"hello\n":                              "line 1: this is not an events file",
		`{"type":"case"}` + "\n":               "line 1: this is not an events file",
		`{"type":"events","version":1}` + "\n": "line 1: events of version 1, and this muster reads version 2",
		`{"type":"events","version":3}` + "\n": "line 1: events of version 3, and this muster reads version 2",
		`{"type":"events","version":2}`:        "line 1: the line is cut off",
		header + "{\n":                         "line 2: unexpected end of JSON input",
		header + "\n":                          "line 2: unexpected end of JSON input",
		header + `{"type":"note","text":"fine"}` + "\n" + `{"type":"note","te`: "line 3: the line is cut off",
		header + `{"type":"dream"}` + "\n":                                     `line 2: type "dream" is not known`,
		header + `{"type":"case","verdict":"odd"}` + "\n":                      `line 2: verdict "odd" is not known`,
		header + `{"type":"case","ending":{"kind":"odd"}}` + "\n":              `line 2: ending "odd" is not known`,
		header + `{"type":"case","verdict":211}` + "\n":                        "line 2: JSON value must be string type",
		header + `{"type":"started","allowed":[211]}` + "\n":                   "line 2: JSON value must be string type",
		header + `{"type":"case","golden_ending":{"kind":77}}` + "\n":          "line 2: JSON value must be string type",
		header + `{"type":"case","name":"%4"}` + "\n":                          `line 2: name "%4" ends inside a %XX`,
		header + `{"type":"case","wall_ms":1e300}` + "\n":                      "line 2: 1e+300 ms is too long for a duration",
		header + `{"type":"summary","verdicts":{"odd":1}}` + "\n":              `line 2: verdict "odd" is not known`,
		header + strings.Repeat("x", eventBytesMax+1) + "\n":                   "line 2: longer than 16,777,216 bytes",
	} {
		_, err := read([]byte(file))
		if err == nil || !strings.Contains(err.Error(), want) || regress.ClassOf(err) != regress.Input {
			t.Errorf("%.80q: %v, want %s", file, err, want)
		}
	}
}

// A disk that fails is not the file's fault.
func TestEventsThatCannotBeRead(t *testing.T) {
	for _, err := range ReadEvents(io.MultiReader(strings.NewReader("{"), failingReader{})) {
		if regress.ClassOf(err) != regress.Environment {
			t.Errorf("%v", err)
		}
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errBroken }

func TestReadingMayStopEarly(t *testing.T) {
	n := 0
	for range ReadEvents(bytes.NewReader(write(t, checkRun()))) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.OneOf(
			rapid.Custom(drawStarted), rapid.Custom(drawPassStarted), rapid.Custom(drawCaseStarted),
			rapid.Custom(drawCaseRan), rapid.Custom(drawNote), rapid.Custom(drawCase), rapid.Custom(drawNotRun),
			rapid.Custom(drawGroup), rapid.Custom(drawCost), rapid.Custom(drawFinished), rapid.Custom(drawEngine),
		), 0, 20).Draw(t, "events")
		file := write(t, events)
		got, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if again := write(t, got); !bytes.Equal(again, file) {
			t.Fatalf("got\n%s\nwant\n%s", again, file)
		}
	})
}

// What an event says in words is printable once it was written; names are any bytes.
func drawWords(t *rapid.T, label string) string { return readable.Text(rapid.String().Draw(t, label)) }

func drawName(t *rapid.T, label string) string {
	return string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, label))
}

func drawTime(t *rapid.T) time.Time {
	return epoch.Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "at")))
}

func drawDuration(t *rapid.T, label string) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(25*24*time.Hour)).Draw(t, label))
}

func drawVerdict(t *rapid.T) regress.Verdict {
	return rapid.SampledFrom(regress.AllVerdicts()).Draw(t, "verdict")
}

func drawStarted(t *rapid.T) Event {
	s := Started{Command: drawWords(t, "command"), Run: drawWords(t, "run"), Cases: rapid.Int().Draw(t, "cases"),
		Corpus: drawWords(t, "corpus"), Tool: drawWords(t, "tool"), Against: drawWords(t, "against"),
		Jobs: rapid.Int().Draw(t, "jobs"), Resumed: rapid.Int().Draw(t, "resumed"), Expected: drawDuration(t, "expected"), At: drawTime(t)}
	for range rapid.IntRange(0, 2).Draw(t, "allowed") {
		s.Allowed = append(s.Allowed, drawVerdict(t))
	}
	return s
}

func drawPassStarted(t *rapid.T) Event {
	return PassStarted{rapid.Int().Draw(t, "pass"), rapid.Int().Draw(t, "runs"), drawDuration(t, "expected"), rapid.Bool().Draw(t, "costs"), drawTime(t)}
}

func drawCaseStarted(t *rapid.T) Event {
	return CaseStarted{drawName(t, "name"), rapid.Int().Draw(t, "pass"), drawTime(t)}
}

func drawCaseRan(t *rapid.T) Event {
	r := CaseRan{drawName(t, "name"), rapid.Int().Draw(t, "pass"), rapid.Bool().Draw(t, "old"), rapid.Bool().Draw(t, "differs"),
		drawDuration(t, "cpu"), drawDuration(t, "wall"), drawDuration(t, "expected"), drawEngineRun(t), rapid.Bool().Draw(t, "reused"), rapid.Bool().Draw(t, "forked"), drawTime(t)}
	if !r.Engine.IsMeasured() || r.Reused {
		r.CPU = 0
	}
	return r
}

// drawEngineRun is nil of a run on this machine.
func drawEngineRun(t *rapid.T) *outcome.EngineRun {
	if rapid.Bool().Draw(t, "here") {
		return nil
	}
	r := &outcome.EngineRun{Cached: rapid.Bool().Draw(t, "cached"), Worker: drawName(t, "worker"), Took: drawDuration(t, "took"),
		Measured: rapid.Bool().Draw(t, "measured"), Asked: drawDuration(t, "asked")}
	if r.QueueKnown = rapid.Bool().Draw(t, "queue told"); r.QueueKnown {
		r.Queued = drawDuration(t, "queued")
	}
	return r
}

func drawEngine(t *rapid.T) Event {
	return Engine{drawWords(t, "command"), drawWords(t, "doing"), rapid.Int().Draw(t, "asked"), rapid.Int().Draw(t, "queued"), rapid.Int().Draw(t, "running"),
		rapid.Int64().Draw(t, "sent"), rapid.Int64().Draw(t, "received"), drawTime(t)}
}

// drawRuns is nil where cases ran on this machine.
func drawRuns(t *rapid.T) *regress.EngineRuns {
	if rapid.Bool().Draw(t, "here") {
		return nil
	}
	r := &regress.EngineRuns{Cached: rapid.Int().Draw(t, "cached"), Executed: rapid.Int().Draw(t, "executed"), Jobs: rapid.Int().Draw(t, "jobs"),
		Sent: rapid.Int64().Draw(t, "sent"), Received: rapid.Int64().Draw(t, "received"), Asked: drawDuration(t, "asked"),
		Queued: drawDuration(t, "queued"), QueuesKnown: rapid.Int().Draw(t, "told"), QueueLeast: drawDuration(t, "least"), Took: drawDuration(t, "took"), Span: drawDuration(t, "span"),
		Longest: regress.LongestRun{Name: drawName(t, "longest"), Worker: drawName(t, "on"), Took: drawDuration(t, "longest")}}
	for range rapid.IntRange(0, 2).Draw(t, "workers") {
		r.Workers = append(r.Workers, regress.Worker{Name: drawName(t, "worker"), Runs: rapid.Int().Draw(t, "runs"), Took: drawDuration(t, "took")})
	}
	return r
}

func drawNote(t *rapid.T) Event {
	return Note{drawWords(t, "text"), rapid.Bool().Draw(t, "warning"), drawName(t, "slow"), drawDuration(t, "over")}
}

func drawEnding(t *rapid.T, label string) *regress.Ending {
	if rapid.Bool().Draw(t, "no "+label) {
		return nil
	}
	return &regress.Ending{Kind: regress.EndingKind(rapid.IntRange(0, 4).Draw(t, label)), Code: rapid.IntRange(0, 255).Draw(t, "code")}
}

func drawCase(t *rapid.T) Event {
	c := Case{Name: drawName(t, "name"), Index: rapid.Int().Draw(t, "index"), Verdict: drawVerdict(t),
		Ending: drawEnding(t, "ending"), GoldenEnding: drawEnding(t, "golden ending"),
		Cost: outcome.Cost{CPU: drawDuration(t, "cpu"), Wall: drawDuration(t, "wall"), PeakRSS: rapid.Int64().Draw(t, "peak")},
		More: rapid.Int().Draw(t, "more"), Why: drawWords(t, "why"), Engine: drawEngineRun(t), Reused: rapid.Bool().Draw(t, "reused")}
	if !c.measured() {
		c.Cost.CPU, c.Cost.PeakRSS = 0, 0
	}
	if c.Reused {
		c.Cost.Wall = 0
	}
	for range rapid.IntRange(0, 3).Draw(t, "differences") {
		c.Differences = append(c.Differences, Difference{drawName(t, "part"), drawWords(t, "old"), drawWords(t, "now"),
			drawWords(t, "diff"), rapid.Int().Draw(t, "hidden"), rapid.Bool().Draw(t, "binary"), nil})
		c.Flaky = append(c.Flaky, drawName(t, "flaky"))
		c.Masked = append(c.Masked, drawName(t, "masked"))
	}
	c.Unstable = rapid.Bool().Draw(t, "unstable")
	return c
}

func drawNotRun(t *rapid.T) Event { return NotRun{drawName(t, "name"), rapid.Int().Draw(t, "index")} }

func drawGroup(t *rapid.T) Event {
	g := Group{Excerpt: drawWords(t, "excerpt"), Cause: cause.Cause{
		ID: drawWords(t, "id"), Signature: drawWords(t, "signature"), Name: drawWords(t, "name"), Kind: cause.Edit, Family: drawWords(t, "family"),
		Cases: rapid.Int().Draw(t, "cases"), Lines: rapid.Int().Draw(t, "lines"), Sole: rapid.Int().Draw(t, "sole"),
		Example: drawName(t, "case"), Smallest: drawName(t, "case"),
	}}
	for range rapid.IntRange(0, 2).Draw(t, "members") {
		g.Members = append(g.Members, drawName(t, "case"))
	}
	return g
}

func drawCost(t *rapid.T) Event {
	c := Cost{
		Estimate: cost.Estimate{Pairs: rapid.Int().Draw(t, "pairs"), CPU: drawRatio(t), Memory: drawRatio(t), Cases: drawCostCases(t), Worst: drawCostCases(t)},
		Measured: rapid.Int().Draw(t, "measured"), Indicative: rapid.Bool().Draw(t, "indicative"), Why: drawWords(t, "why"), Against: drawWords(t, "against"), Took: drawDuration(t, "took"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "notes") {
		c.Over = append(c.Over, drawWords(t, "limit"))
		c.Warnings = append(c.Warnings, cost.Warning{Kind: cost.Kind(rapid.IntRange(int(cost.TooFew), int(cost.AtFloor)).Draw(t, "kind")), Text: drawWords(t, "text")})
	}
	return c
}

// drawRatio may have no interval, or be none.
func drawRatio(t *rapid.T) (r cost.Ratio) {
	if rapid.Bool().Draw(t, "told") {
		r.Value = rapid.Float64Range(1e-6, 1e6).Draw(t, "ratio")
		if rapid.Bool().Draw(t, "bounded") {
			r.Low, r.High = r.Value/2, r.Value*2
		}
	}
	return r
}

func drawCostCases(t *rapid.T) (list []cost.Case) {
	side := func(label string) outcome.Cost {
		return outcome.Cost{CPU: drawDuration(t, label+" cpu"), Wall: drawDuration(t, label+" wall"), PeakRSS: rapid.Int64().Draw(t, label+" peak")}
	}
	for range rapid.IntRange(0, 3).Draw(t, "cases") {
		list = append(list, cost.Case{Name: drawName(t, "name"), Pairs: rapid.Int().Draw(t, "pairs"), Old: side("old"), New: side("new"), CPU: rapid.Float64Range(0, 1e6).Draw(t, "ratio")})
	}
	return list
}

func drawFinished(t *rapid.T) Event {
	s := regress.Summary{Command: drawWords(t, "command"), Run: drawWords(t, "run"), Cases: rapid.Int().Draw(t, "cases"),
		Recorded: rapid.Int().Draw(t, "recorded"), NotRun: rapid.Int().Draw(t, "not run"),
		Endings:     regress.Endings{Succeeded: 1, Failed: 2, Signalled: 3, TimedOut: 4, OutOfMemory: 5, OutputLimit: rapid.Int().Draw(t, "output limit")},
		Interrupted: rapid.Bool().Draw(t, "interrupted"), BrokeOff: rapid.Bool().Draw(t, "broke off"), Stopped: rapid.Int().Draw(t, "stopped"), Groups: rapid.Int().Draw(t, "groups"), ExitStatus: rapid.Int().Draw(t, "status"),
		Wall: drawDuration(t, "wall"), CPU: drawDuration(t, "cpu"), OwnCPU: drawDuration(t, "own"), CoresBusy: rapid.Float64Range(0, 1e6).Draw(t, "cores"), Engine: drawRuns(t)}
	for range rapid.IntRange(0, 2).Draw(t, "failing") {
		s.Failing = append(s.Failing, regress.Failure{Name: drawName(t, "failing name"), Ending: regress.Ending{Kind: regress.Signalled, Code: 11}, Line: drawWords(t, "line")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "over") {
		s.Over = append(s.Over, drawWords(t, "limit"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "tool files") {
		s.ToolChanged = append(s.ToolChanged, drawName(t, "tool file"))
	}
	if rapid.Bool().Draw(t, "corpus") {
		s.Selection, s.NotSampled = drawWords(t, "selection"), rapid.IntRange(0, 9).Draw(t, "not sampled")
		s.Sources = regress.Sources{Known: rapid.IntRange(1, 9).Draw(t, "known"), Changed: rapid.IntRange(1, 9).Draw(t, "changed"), Shared: 6, SharedChanged: 1, SharedAdded: 2, SharedRemoved: 3}
		s.Sources.Names, s.Sources.SharedNames = []string{drawName(t, "source")}, []string{drawName(t, "shared")}
		s.Settings = []string{drawWords(t, "setting")}
	}
	for v := range s.Verdicts {
		s.Verdicts[v] = rapid.Int().Draw(t, "count")
	}
	return Finished{s}
}

// Whatever an events file holds, reading it ends, and what was read does no
// harm to any reporter.
func FuzzEvents(f *testing.F) {
	file := write(f, checkRun())
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte(`{"type":"events","version":2}` + "\n" + `{"type":"case","differences":[{"diff":"\u001b[2J\u009b1A"}],"flaky":[""]}` + "\n"))
	f.Add([]byte(`{"type":"events","version":2}` + "\n" + `{"type":"pass_started","runs":-9223372036854775808,"pass":-5,"at":"9999-12-31T23:59:59Z"}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		events, err := read(file)
		if err != nil && regress.ClassOf(err) != regress.Input {
			t.Fatal(err)
		}
		out, errs := feed(t, events, false, 40, text(Verbose))
		checkHarmless(t, out+errs)
		out, errs = feed(t, events, false, 40, func(c Console) Reporter { return NewJSON(c, Verbose) })
		checkHarmless(t, out+errs)
		var l tally
		for _, ev := range events {
			l.handle(ev)
			checkHarmless(t, l.line(l.last.Add(time.Minute), 60, false))
		}
		if _, err := read(write(t, events)); err != nil {
			t.Fatalf("what was read and written again cannot be read: %v", err)
		}
	})
}
