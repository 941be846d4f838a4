package report

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/regress"
	"muster/regress/internal/cause"
)

func writeJUnit(t rapid.TB, path string, events []Event) []byte {
	t.Helper()
	return writeReport(t, NewJUnit, path, events)
}

func TestJUnit(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.xml")
	events := checkRun()
	started := events[0].(Started)
	started.Allowed = []regress.Verdict{regress.New, regress.Missing}
	events[0] = started
	file := writeJUnit(t, path, events)
	checkGolden(t, "junit.xml", file)
	suite := checkJUnit(t, file)
	if suite.Tests != 15 || suite.Failures != 10 || suite.Errors != 1 {
		t.Errorf("%d tests, %d failures, %d errors", suite.Tests, suite.Failures, suite.Errors)
	}
	if got := names(t, folder); !slices.Equal(got, []string{"report.xml"}) {
		t.Errorf("the folder holds %q", got)
	}
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

// The schema as a validator reads it, with causes, and whatever is in them.
func TestJUnitIsValid(t *testing.T) {
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		if os.Getenv("MUSTER_REQUIRE") == "all" {
			t.Fatal("no xmllint: scripts/install-test-tools, run as root, installs what tests need")
		}
		t.Skip("no xmllint")
	}
	folder := t.TempDir()
	run := withCauses(checkRun(), 40)
	run = slices.Insert(run, len(run)-1, Event(NotRun{Name: "late.go", Index: 300}), Event(Group{Cause: cause.Cause{ID: "G41", Name: "]]></failure>\x00\xff\x1b\u202e\ufffe\""}, Members: []string{"a/b.go"}}))
	args := []string{"--noout", "--schema", "testdata/junit.xsd"}
	for _, events := range [][]Event{run, {Started{Command: "record", At: epoch}, Finished{}}} {
		path := filepath.Join(folder, strconv.Itoa(len(args)))
		checkJUnit(t, writeJUnit(t, path, events))
		args = append(args, path)
	}
	if said, err := exec.CommandContext(t.Context(), lint, args...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// What a run did not get to is there too, where it stands in the corpus.
func TestJUnitOfWhatDidNotRun(t *testing.T) {
	cases := verdictCases()
	events := []Event{
		Started{Command: "check", Cases: 3, At: epoch}, cases[0],
		NotRun{Name: "a/\xff<last>.go", Index: 9}, NotRun{Name: "early.go", Index: 1},
	}
	s := summaryOf("check", cases[:1])
	s.Cases, s.NotRun, s.Interrupted, s.BrokeOff = 3, 2, true, true
	file := writeJUnit(t, filepath.Join(t.TempDir(), "r.xml"), append(events, Finished{s}))
	checkGolden(t, "notrun.xml", file)
	if got, want := checkJUnit(t, file), (junitSuite{Tests: 3, Failures: 1, Skipped: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

type junitSuite struct{ Tests, Failures, Errors, Skipped int }

// checkJUnit checks the counts of a file against its elements. xmllint checks its form.
func checkJUnit(t rapid.TB, file []byte) (counted junitSuite) {
	t.Helper()
	var all struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Failure []string `xml:"failure"`
				Error   []string `xml:"error"`
				Skipped []string `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(file, &all); err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	s := all.Suite
	counted.Tests = len(s.Cases)
	for _, c := range s.Cases {
		counted.Failures += len(c.Failure)
		counted.Errors += len(c.Error)
		counted.Skipped += len(c.Skipped)
	}
	if said := (junitSuite{s.Tests, s.Failures, s.Errors, s.Skipped}); counted != said {
		t.Fatalf("holds %+v, says %+v", counted, said)
	}
	return counted
}

// The differences of thousands of cases, and their causes, are told while there is room:
// every case is listed, and what was left out is said.
func TestJUnitIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of cases")
	}
	const many = 3000
	events := []Event{Started{Command: "check", Cases: many}}
	for i := range many {
		events = append(events, Case{
			Index: i, Name: strconv.Itoa(i), Verdict: regress.Changed,
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
	for what, want := range map[string]int{"cause G": junitCausesMax, "… 10 more causes": 1} {
		if got := bytes.Count(file, []byte(what)); got != want {
			t.Errorf("%d of %s, want %d", got, what, want)
		}
	}
	if left := bytes.Count(file, []byte("left out to keep this small")); left == 0 || left > many/2 {
		t.Errorf("%d differences are left out", left)
	}
}
