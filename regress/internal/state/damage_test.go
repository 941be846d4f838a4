package state_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/regress"
	"muster/regress/internal/state"
)

// newFullRun returns a finished check with all its files.
func newFullRun(t *testing.T, s *state.State) *state.Run {
	t.Helper()
	r := newRun(t, s, "check", 1)
	lines, err := r.OpenLines(ignore)
	if err != nil {
		t.Fatal(err)
	}
	r.Finished = true
	if err := errors.Join(
		lines.Add(state.Line{Name: []byte("a"), Identical: true}), lines.Add(state.Line{Name: []byte("b"), Code: 1}), lines.Close(),
		r.SaveResults([]state.Result{{Name: []byte("b"), Verdict: regress.Changed}}),
		r.SaveCauses([]byte(`{"causes":["G1"]}`)), r.SaveDecisions([]byte(`{"G1":"accepted"}`)),
		r.Save(),
	); err != nil {
		t.Fatal(err)
	}
	return r
}

func decodeAny(content []byte) (v any, err error) { return v, json.Unmarshal(content, &v) }

// readAll returns all that the files of the last check have, as one text. It stops at the first error.
func readAll(s *state.State) (string, error) {
	r, err := state.FindCheck(s, "")
	if err != nil {
		return "", err
	}
	w := &strings.Builder{}
	fmt.Fprintf(w, "%+v", r.Info)
	for line, err := range r.ReadLines() {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(w, "%+v", line)
	}
	results, err := r.Results()
	causes, err2 := state.Causes(r, decodeAny)
	decisions, err3 := state.Decisions(r, decodeAny)
	fmt.Fprintf(w, "%+v %v %v", results, causes, decisions)
	return w.String(), errors.Join(err, err2, err3)
}

// TestDamage: whichever bit of a file is flipped, and wherever it is cut off, the file is read as it was,
// or it is named.
func TestDamage(t *testing.T) {
	s := state.Open(t.TempDir())
	r := newFullRun(t, s)
	want, err := readAll(s)
	if err != nil {
		t.Fatal(err)
	}
	other := newFullRun(t, state.Open(t.TempDir()))
	for _, name := range []string{"run.json", "results.json", "causes.json", "decisions.json", "cases.jsonl"} {
		path := r.File(name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, damaged []byte) {
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := readAll(s)
			isNamed := regress.ClassOf(err) == regress.Input && strings.Contains(err.Error(), filepath.Base(name))
			if !isNamed && (err != nil || got != want) {
				t.Errorf("%s, %s: %s, %v", name, what, got, err)
			}
		}
		if strings.Contains("results.json causes.json decisions.json", name) {
			text, err := os.ReadFile(other.File(name))
			if err != nil {
				t.Fatal(err)
			}
			check("that of another run", text)
			if _, err := readAll(s); err == nil {
				t.Errorf("%s of another run is taken", name)
			}
		}
		step := 5
		if os.Getenv("MUSTER_LONG") != "" {
			step = 1
		}
		for at := 0; at < len(whole); at += step {
			for bit := range 8 {
				damaged := append([]byte(nil), whole...)
				damaged[at] ^= 1 << bit
				check(fmt.Sprintf("bit %d of byte %d", bit, at), damaged)
			}
			check(fmt.Sprintf("cut off at %d", at), whole[:at])
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEarlierRun: the files of version 1 have no digests. The run is listed, and nothing in it is
// trusted.
func TestEarlierRun(t *testing.T) {
	dir := t.TempDir()
	s := state.Open(dir)
	const id = "20260102-030405-abcd"
	r := &state.Run{}
	for name, text := range map[string]string{
		"run.json":       `{"version": 1, "id": "` + id + `", "number": 1, "command": "check", "started": "2026-01-02T03:04:05Z", "finished": true}`,
		"results.json":   `[]`,
		"causes.json":    `{}`,
		"decisions.json": `{}`,
		"cases.jsonl":    `{"name":"YQ=="}` + "\n",
	} {
		path := filepath.Join(dir, "runs", id, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	newer, err := s.NewRun(state.Info{Command: "record", Started: time.Unix(0, 0)})
	if err != nil || newer.Number != 2 {
		t.Fatalf("%+v, %v", newer, err)
	}
	if r, err = s.Find(id); err != nil {
		t.Fatal(err)
	}
	_, results := r.Results()
	_, causes := state.Causes(r, decodeAny)
	_, decisions := state.Decisions(r, decodeAny)
	_, opened := r.OpenLines(ignore)
	errs := map[string]error{"results": results, "causes": causes, "decisions": decisions, "lines": opened}
	for _, errs["read lines"] = range r.ReadLines() {
	}
	for what, err := range errs {
		if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "run "+id+" was made by an earlier muster") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
