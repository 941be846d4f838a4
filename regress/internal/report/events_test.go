package report

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/regress"
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
		header + strings.Repeat("x", eventBytesMax+1): "line 2: longer than 16,777,216 bytes",
		header + "{\n": "line 2: unexpected end of JSON input",
		header + "\n":  "line 2: unexpected end of JSON input",
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

// A file that was read and written again is the same.
func TestEventsRoundTrip(t *testing.T) {
	for _, run := range [][]Event{withCauses(checkRun(), 3), engineRun(30), {costOfTen(), Retracted{Name: "a\xff%", At: epoch}}} {
		file := write(t, run)
		events, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		if again := write(t, events); !bytes.Equal(again, file) {
			t.Errorf("got\n%s\nwant\n%s", again, file)
		}
	}
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
