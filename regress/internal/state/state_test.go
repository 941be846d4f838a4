package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/outcome"
	"muster/regress/internal/state"
)

func every(*state.Run) bool { return true }

func newRun(t *testing.T, s *state.State, command string, at int) *state.Run {
	t.Helper()
	r, err := s.NewRun(state.Info{Command: command, Started: time.Unix(int64(at), 0)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFind(t *testing.T) {
	s := state.Open(t.TempDir() + "/.muster")
	if _, err := s.Last(every, "run: make one"); regress.ClassOf(err) != regress.Input {
		t.Errorf("in an empty state: %v", err)
	}
	a, b := newRun(t, s, "record", 1), newRun(t, s, "check", 100)
	for prefix, want := range map[string]string{a.ID: a.ID, b.ID[:len(b.ID)-1]: b.ID} {
		if got, err := s.Find(prefix); err != nil || got.ID != want {
			t.Errorf("Find(%q) = %v, %v; want %s", prefix, got, err, want)
		}
	}
	if got, err := s.Last(every, ""); err != nil || got.ID != b.ID {
		t.Errorf("last run: %v, %v", got, err)
	}
	got, err := s.Last(func(r *state.Run) bool { return r.Command == "record" }, "")
	if err != nil || got.ID != a.ID {
		t.Errorf("last record: %v, %v", got, err)
	}
	for _, bad := range []string{"1970", "x"} {
		if _, err := s.Find(bad); regress.ClassOf(err) != regress.Input {
			t.Errorf("Find(%q): %v", bad, err)
		}
	}
}

func TestOnlyTheLastRunsAreKept(t *testing.T) {
	s := state.Open(t.TempDir())
	for i := range 25 {
		newRun(t, s, "check", i)
	}
	runs, err := s.Runs()
	if err != nil || len(runs) != 20 || runs[0].Started.Unix() != 5 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
}

// What was reduced for a run goes with it. What nobody here has made stays.
func TestReducedSourcesGoWithTheirRun(t *testing.T) {
	s := state.Open(t.TempDir())
	oldest := newRun(t, s, "check", 1)
	for i := range 18 {
		newRun(t, s, "check", 3+i)
	}
	kept := newRun(t, s, "check", 30)
	for _, folder := range []string{oldest.ID, kept.ID, "mine"} {
		path := s.Reduced(folder) + "/sub/a.c"
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	newRun(t, s, "check", 31)
	left, err := filepath.Glob(s.Reduced("*"))
	if err != nil || !slices.Equal(left, []string{s.Reduced(kept.ID), s.Reduced("mine")}) {
		t.Errorf("there are %q, %v", left, err)
	}
}

// What can be resumed stays, however many runs come after it: the newest
// unfinished one of each command, and no other.
func TestUnfinishedRunsAreKept(t *testing.T) {
	s := state.Open(t.TempDir())
	older := newRun(t, s, "record", 1)
	record, check := newRun(t, s, "record", 2), newRun(t, s, "check", 3)
	for i := range 30 {
		r := newRun(t, s, []string{"check", "record", "compare"}[i%3], 10+i)
		r.Finished = true
		if err := r.Save(); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := s.Runs()
	if err != nil || len(runs) != 20 || runs[0].ID != record.ID || runs[1].ID != check.ID {
		t.Fatalf("%d runs, the oldest %s and %s, %v", len(runs), runs[0].ID, runs[1].ID, err)
	}
	if _, err := s.Find(older.ID); regress.ClassOf(err) != regress.Input {
		t.Errorf("the older unfinished record: %v", err)
	}
}

// What a run that was killed left before it had a run.json goes with the next one,
// and so does what a full disk left. Nothing else does: --state may name any folder.
func TestFoldersOfNoRun(t *testing.T) {
	dir := t.TempDir()
	s := state.Open(dir)
	first := newRun(t, s, "check", 1)
	for path, text := range map[string]string{
		"20260102-030405-abcd/run.json.new":    "",
		"20260102-030405-ef01/outcomes.golden": "x",
		"20260102-030405-later/run.json":       `{"version": 1000000}`,
		"20260102-030405-torn/run.json":        `{`,
		"mine/precious":                        "x",
		"2026-precious-folder/x":               "x",
	} {
		path = filepath.Join(dir, "runs", path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	second := newRun(t, s, "check", 2)
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{first.ID, second.ID, "20260102-030405-later", "2026-precious-folder", "mine"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

// A clock that was set back makes a new run the oldest of all.
func TestNewRunIsKept(t *testing.T) {
	s := state.Open(t.TempDir())
	for i := range 20 {
		newRun(t, s, "check", 100+i)
	}
	r := newRun(t, s, "check", 1)
	if got, err := s.Find(r.ID); err != nil || got.ID != r.ID {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUnfinished(t *testing.T) {
	s := state.Open(t.TempDir())
	r := newRun(t, s, "check", 1)
	newRun(t, s, "record", 2)
	if got, err := s.Unfinished("check"); err != nil || got == nil || got.ID != r.ID {
		t.Fatalf("unfinished check: %v, %v", got, err)
	}
	r.Finished = true
	if err := r.Save(); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Unfinished("check"); err != nil || got != nil {
		t.Fatalf("after it finished: %v, %v", got, err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := state.Open(dir).Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := state.Open(dir).Lock(); regress.ClassOf(err) != regress.Input {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	again, err := state.Open(dir).Lock()
	if err != nil {
		t.Fatal(err)
	}
	again()
}

// A line that an interruption tore counts as not written, and what is appended
// later does not stick to it. Each whole line is found again at its place.
func TestTornLine(t *testing.T) {
	s := state.Open(t.TempDir())
	r := newRun(t, s, "check", 1)
	long := strings.Repeat("long", 1000)
	add := func(had []string, names ...string) {
		var places []int64
		l, err := r.OpenLines(func(at int64, _ *state.Line) { places = append(places, at) })
		if err != nil || len(places) != len(had) {
			t.Fatalf("%d lines, want %q, %v", len(places), had, err)
		}
		for i, at := range places {
			if line, err := l.At(at, had[i]); err != nil || string(line.Name) != had[i] || line.Engine.Worker != "w\xff" {
				t.Errorf("at %d: %+v, %v", at, line, err)
			}
		}
		for _, n := range names {
			if err := l.Add(state.Line{Name: []byte(n), Engine: &outcome.EngineRun{Worker: "w\xff"}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	add(nil, "a\xff", long, "b")
	text, err := os.ReadFile(r.File("cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.File("cases.jsonl"), text[:len(text)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	add([]string{"a\xff", long}, "c")
	add([]string{"a\xff", long, "c"})
	for line, err := range r.ReadLines() {
		if err != nil || string(line.Name) != "a\xff" {
			t.Errorf("the first line: %+v, %v", line, err)
		}
		break
	}
}

func TestResults(t *testing.T) {
	s := state.Open(t.TempDir())
	r := newRun(t, s, "check", 1)
	if got, err := r.Results(); err != nil || got != nil {
		t.Fatalf("before any: %v, %v", got, err)
	}
	want := state.Result{Name: []byte("x\xff"), Verdict: regress.NewlyFailing}
	if err := r.SaveResults([]state.Result{want}); err != nil {
		t.Fatal(err)
	}
	got, err := r.Results()
	if err != nil || len(got) != 1 || string(got[0].Name) != "x\xff" || got[0].Verdict != regress.NewlyFailing {
		t.Fatalf("%+v, %v", got, err)
	}
}

// A damaged run must not make an older one the last: accept would take its outcomes.
func TestDamagedRunIsNotPassedOver(t *testing.T) {
	s := state.Open(t.TempDir())
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var runs []*state.Run
	for i := range 3 {
		r, err := s.NewRun(state.Info{Command: "check", Started: begun.Add(time.Duration(i) * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	damage := func(i int) {
		if err := os.WriteFile(runs[i].File("run.json"), []byte(`{"id":`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	damage(0)
	if r, err := state.FindCheck(s, ""); err != nil || r.ID != runs[2].ID {
		t.Errorf("an older damaged run counts: %v", err)
	}
	damage(2)
	for _, id := range []string{"", runs[2].ID} {
		if _, err := state.FindCheck(s, id); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), runs[2].File("run.json")+" is damaged") {
			t.Errorf("FindCheck(%q): %v", id, err)
		}
	}
	if r, err := state.FindCheck(s, runs[1].ID); err != nil || r.ID != runs[1].ID {
		t.Errorf("a whole run, by its ID: %v", err)
	}
	// A new run takes the place of the damaged ones, also if its ID is less.
	next, err := s.NewRun(state.Info{Command: "check", Started: begun})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := state.FindCheck(s, ""); err != nil || r.ID != next.ID {
		t.Errorf("after a new run: %v", err)
	}
}

// What is no run stands in the way of none, and stays: a file, and a copy of a run.
func TestCopiesOfRuns(t *testing.T) {
	dir := t.TempDir()
	s := state.Open(dir)
	r := newRun(t, s, "check", 1)
	text, err := os.ReadFile(r.File("run.json"))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "runs", r.ID+".bak")
	archive := filepath.Join(dir, "runs", r.ID+".tar")
	if err := errors.Join(os.Mkdir(copied, 0o755), os.WriteFile(filepath.Join(copied, "run.json"), text, 0o644), os.WriteFile(archive, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", r.ID} {
		if found, err := state.FindCheck(s, id); err != nil || found.ID != r.ID {
			t.Errorf("FindCheck(%q): %v", id, err)
		}
	}
	newRun(t, s, "check", 2)
	for _, path := range []string{copied, archive} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// A run that cannot be read stops only those that may want it.
func TestUnreadableRun(t *testing.T) {
	s := state.Open(t.TempDir())
	first, second := newRun(t, s, "check", 1), newRun(t, s, "check", 2)
	if err := errors.Join(os.Remove(second.File("run.json")), os.Mkdir(second.File("run.json"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unfinished("check"); regress.ClassOf(err) != regress.Environment {
		t.Errorf("Unfinished: %v", err)
	}
	if _, err := state.FindCheck(s, ""); regress.ClassOf(err) != regress.Environment {
		t.Errorf("the last: %v", err)
	}
	if r, err := state.FindCheck(s, first.ID); err != nil || r.ID != first.ID {
		t.Errorf("another: %v", err)
	}
	third := newRun(t, s, "check", 3)
	if r, err := state.FindCheck(s, ""); err != nil || r.ID != third.ID {
		t.Errorf("after a new run: %v", err)
	}
}
