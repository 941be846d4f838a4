package report

import (
	"bytes"
	"muster/regress"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writeReport feeds events to a reporter for a file and returns that.
func writeReport(t rapid.TB, makeReporter func(path string) (Reporter, error), path string, events []Event) []byte {
	t.Helper()
	r, err := makeReporter(path)
	if err != nil {
		t.Fatal(err)
	}
	handAll(t, r, events)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// handAll hands all events to a reporter, and closes it.
func handAll(t interface{ Fatal(...any) }, r Reporter, events []Event) {
	for _, ev := range events {
		if err := r.Handle(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
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

// A report appears whole or not at all, and where it cannot be made nothing else is tried.
func TestFilesOfReports(t *testing.T) {
	for what, makeReporter := range map[string]func(string) (Reporter, error){"junit": NewJUnit, "html": NewHTML, "markdown": NewMarkdown} {
		folder := t.TempDir()
		path := filepath.Join(folder, "report")
		if err := os.WriteFile(path, []byte("before"), 0o666); err != nil {
			t.Fatal(err)
		}
		run := withCauses(checkRun(), 2)
		r, err := makeReporter(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range run[:len(run)-1] {
			if err := r.Handle(ev); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != "before" || len(names(t, folder)) != 1 {
			t.Errorf("%s: a run that broke off left %q, %q", what, got, names(t, folder))
		}
		if got := writeReport(t, makeReporter, path, run); bytes.Equal(got, []byte("before")) || len(names(t, folder)) != 1 {
			t.Errorf("%s: %d bytes, %q", what, len(got), names(t, folder))
		}
		for _, bad := range []string{folder, filepath.Join(folder, "none", "report"), os.DevNull} {
			if _, err := makeReporter(bad); regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), "--"+what+": ") {
				t.Errorf("%s %s: %v", what, bad, err)
			}
		}
	}
}
