package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// writeJUnit feeds events to a JUnit reporter and returns its file.
func writeJUnit(t interface{ Fatal(...any) }, path string, events []Event) []byte {
	r, err := NewJUnit(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if err := r.Handle(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestJUnit(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.xml")
	events := checkRun()
	started := events[0].(Started)
	started.Allowed = []outcome.Verdict{outcome.New, outcome.Missing}
	events[0] = started
	file := writeJUnit(t, path, events)
	checkGolden(t, "junit.xml", file)
	suite := checkJUnit(t, file)
	if suite.Tests != 12 || suite.Failures != 8 || suite.Errors != 1 {
		t.Errorf("%d tests, %d failures, %d errors", suite.Tests, suite.Failures, suite.Errors)
	}
	if got := names(t, folder); !slices.Equal(got, []string{"report.xml"}) {
		t.Errorf("the folder holds %q", got)
	}
}

func names(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// At record flakiness is known from then on, and no failure.
func TestJUnitOfRecord(t *testing.T) {
	events := checkRun()
	started := events[0].(Started)
	started.Command = "record"
	events[0] = started
	suite := checkJUnit(t, writeJUnit(t, filepath.Join(t.TempDir(), "r.xml"), events))
	if suite.Failures != 0 || suite.Errors != 1 {
		t.Errorf("%d failures, %d errors", suite.Failures, suite.Errors)
	}
}

// A run that breaks off leaves what was there.
func TestJUnitIsWrittenAtTheEnd(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.xml")
	if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	events := checkRun()
	if got := writeJUnit(t, path, events[:len(events)-1]); string(got) != "before" {
		t.Errorf("a run that broke off left %.40q", got)
	}
	checkJUnit(t, writeJUnit(t, path, events))
	if got := names(t, folder); len(got) != 1 {
		t.Errorf("the folder holds %q", got)
	}
}

func TestJUnitRefusesItsPath(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "absent", "report.xml"), t.TempDir(), "/dev/null"} {
		_, err := NewJUnit(path)
		if fault.ClassOf(err) != fault.Input {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestJUnitIsXMLWhateverToolsWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.xml")
	rapid.Check(t, func(t *rapid.T) {
		events := []Event{Started{Command: "check", At: epoch}}
		for range rapid.IntRange(0, 5).Draw(t, "cases") {
			wild := drawCase(t).(Case)
			wild.Why = drawName(t, "raw bytes")
			events = append(events, wild, drawNotRun(t))
		}
		events = append(events, drawFinished(t))
		checkJUnit(t, writeJUnit(t, path, events))
	})
}

// What a run did not get to is there too, where it stands in the corpus.
func TestJUnitOfWhatDidNotRun(t *testing.T) {
	cases := verdictCases()
	events := []Event{
		Started{Command: "check", Cases: 3, At: epoch}, cases[0],
		NotRun{Name: "a/\xff<last>.go", Index: 9}, NotRun{Name: "early.go", Index: 1},
	}
	s := summaryOf("check", cases[:1])
	s.Cases, s.NotRun, s.Interrupted = 3, 2, true
	file := writeJUnit(t, filepath.Join(t.TempDir(), "r.xml"), append(events, Finished{s}))
	checkGolden(t, "notrun.xml", file)
	if got, want := checkJUnit(t, file), (junitSuite{Tests: 3, Failures: 1, Skipped: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

type junitSuite struct{ Tests, Failures, Errors, Skipped int }

// What may stand where in the JUnit format as the common schema has it, and
// which attributes an element must have.
var junitChildren = map[string][]string{
	"":           {"testsuites"},
	"testsuites": {"testsuite"},
	"testsuite":  {"properties", "testcase"},
	"properties": {"property"},
	"testcase":   {"properties", "failure", "error", "skipped"}, // properties as pytest and surefire have them
	"property":   {}, "failure": {}, "error": {}, "skipped": {},
}

var junitAttributes = map[string][]string{
	"testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
	"testsuite":  {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
	"testcase":   {"classname", "name", "time"},
	"property":   {"name", "value"},
	"failure":    {"type", "message"},
	"error":      {"type", "message"},
	"skipped":    {"message"},
}

// checkJUnit checks a file against the schema and its own counts.
func checkJUnit(t interface{ Fatalf(string, ...any) }, file []byte) (counted junitSuite) {
	var open []string
	var said junitSuite
	d := xml.NewDecoder(bytes.NewReader(file))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, file)
		}
		switch token := token.(type) {
		case xml.StartElement:
			parent := ""
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			tag := token.Name.Local
			if !slices.Contains(junitChildren[parent], tag) {
				t.Fatalf("<%s> in <%s>", tag, parent)
			}
			checkAttributes(t, tag, token.Attr, &said)
			counted.count(tag)
			open = append(open, tag)
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
	if counted != said {
		t.Fatalf("holds %+v, says %+v", counted, said)
	}
	return counted
}

func (s *junitSuite) count(tag string) {
	switch tag {
	case "testcase":
		s.Tests++
	case "failure":
		s.Failures++
	case "error":
		s.Errors++
	case "skipped":
		s.Skipped++
	}
}

func checkAttributes(t interface{ Fatalf(string, ...any) }, tag string, attributes []xml.Attr, said *junitSuite) {
	var names []string
	for _, a := range attributes {
		names = append(names, a.Name.Local)
		n, err := strconv.Atoi(a.Value)
		switch a.Name.Local {
		case "tests":
			said.Tests = n
		case "failures":
			said.Failures = n
		case "errors":
			said.Errors = n
		case "skipped":
			said.Skipped = n
		case "time":
			if _, err := strconv.ParseFloat(a.Value, 64); err != nil {
				t.Fatalf("time %q", a.Value)
			}
			continue
		default:
			continue
		}
		if err != nil {
			t.Fatalf("%s of <%s>: %q", a.Name.Local, tag, a.Value)
		}
	}
	if want := junitAttributes[tag]; !slices.Equal(names, want) {
		t.Fatalf("<%s> has %q, want %q", tag, names, want)
	}
}

// The differences of thousands of cases, and their causes, are told while there is room:
// every case is listed, and what was left out is said.
func TestJUnitIsBounded(t *testing.T) {
	const many = 3000
	events := []Event{Started{Command: "check", Cases: many}}
	for i := range many {
		events = append(events, Case{
			Index: i, Name: strconv.Itoa(i), Verdict: outcome.Changed,
			Differences: []Difference{{Part: "stdout", Old: "9 bytes", Now: "9 bytes", Diff: strings.Repeat("+"+strings.Repeat("<&>", 100)+"\n", 8)}},
		})
	}
	for i := range 40 {
		events = append(events, Group{Cause: cause.Cause{ID: "G" + strconv.Itoa(i+1), Name: strings.Repeat("n", 1000)}, Members: []string{"7"}})
	}
	events = append(events, Finished{})
	file := writeJUnit(t, filepath.Join(t.TempDir(), "r.xml"), events)
	if len(file) > 20<<20 {
		t.Errorf("%d bytes", len(file))
	}
	if suite := checkJUnit(t, file); suite.Tests != many || suite.Failures != many {
		t.Errorf("%d tests, %d failures", suite.Tests, suite.Failures)
	}
	for what, want := range map[string]int{`<property name="cause"`: junitCausesMax, `name="more_causes" value="10"`: 1} {
		if got := bytes.Count(file, []byte(what)); got != want {
			t.Errorf("%d of %s, want %d", got, what, want)
		}
	}
	if left := bytes.Count(file, []byte("left out to keep this small")); left == 0 || left > many/2 {
		t.Errorf("%d differences are left out", left)
	}
}
