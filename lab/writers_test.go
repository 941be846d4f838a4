package lab_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/lab"
)

// writersFolder sets TMPDIR for the rest of the test to a folder with a short path. A server
// of another user may enter it.
func writersFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "muster-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("TMPDIR", dir)
	return dir
}

func writersLeftNothing(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", left, err)
	}
}

// writersOptions returns the smallest options, with a probe that prints the same line for
// every question.
func writersOptions(t *testing.T) lab.ChannelOptions {
	t.Helper()
	if testing.Short() {
		t.Skip("contestants take a minute to build, and change seldom")
	}
	cache := os.Getenv("MUSTER_TEST_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "muster-test")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	return lab.ChannelOptions{
		Options: lab.Options{
			Count: 2, Cache: filepath.Join(cache, "contestants"),
			Probe: []string{sh, "-c", "echo Benchmarkx 1 5e7 ns/op 0.01 s/portion 3 threads"},
		},
		Procs: []int{1}, Cycles: []int{0}, Items: 100_000,
		Writers: []int{1, 5}, Rows: 20,
	}
}

// writersNeed skips the test if contestants or the server are missing.
func writersNeed(t *testing.T, r *lab.Results) {
	t.Helper()
	if len(r.Missing) == 0 {
		return
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("%v: scripts/install-test-tools installs it", r.Missing)
	}
	t.Skip(r.Missing)
}

func writersMeasure(t *testing.T, o lab.ChannelOptions) *lab.Results {
	t.Helper()
	r, err := lab.Channel(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func writersText(t *testing.T, r *lab.Results, o lab.ChannelOptions) string {
	t.Helper()
	var text bytes.Buffer
	if err := lab.ChannelReport(r, o).Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := lab.ChannelReport(r, o).HTML(new(bytes.Buffer)); err != nil {
		t.Error(err)
	}
	return text.String()
}

func TestWriters(t *testing.T) {
	dir := writersFolder(t)
	o := writersOptions(t)
	r := writersMeasure(t, o)
	writersLeftNothing(t, dir)
	writersNeed(t, r)
	for name, connections := range map[string]float64{
		"Insert/impl=postgres/goroutines=1": 1, "Insert/impl=postgres/goroutines=5": 5,
		"Insert/impl=sqlite/goroutines=1": 1, "Insert/impl=sqlite/goroutines=5": 1,
	} {
		if rates := r.Figures(name, "rows/s"); len(rates) != 2 || slices.Min(rates) <= 0 {
			t.Errorf("%s: %v rows/s, want two", name, rates)
		}
		if n := r.Figures(name, "connections"); !slices.Equal(n, []float64{connections, connections}) {
			t.Errorf("%s: connections %v, want %v", name, n, connections)
		}
	}
	text := writersText(t, r, o)
	for _, want := range []string{"Goroutines that write to a database", "PostgreSQL: rows/s", "SQLite: rows/s", "from 5 goroutines as from 1", "program takes 40 MB"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// An interrupted run removes its server and files, and can be resumed with new ones.
func TestWritersInterrupted(t *testing.T) {
	dir := writersFolder(t)
	o := writersOptions(t)
	writersNeed(t, writersMeasure(t, o))
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var journal bytes.Buffer
	o.Journal = &journal
	o.Progress = func(p lab.Progress) {
		if p.Next == "Insert/impl=sqlite/goroutines=1" {
			end()
		}
	}
	if _, err := lab.Channel(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	writersLeftNothing(t, dir)

	o.Earlier = strings.NewReader(journal.String())
	journal.Reset()
	o.Progress = nil
	r := writersMeasure(t, o)
	for _, again := range []string{"Insert/impl=postgres/goroutines=1", "Insert/impl=postgres/goroutines=5"} {
		if n := len(r.Figures(again, "rows/s")); n != 2 || strings.Count(journal.String(), again+" ") != 1 {
			t.Errorf("%s: %d figures, want one of the interrupted run and one of its continuation:\n%s", again, n, &journal)
		}
	}
	writersLeftNothing(t, dir)
}

// Without a server, the rest is measured.
func TestWritersWithoutPostgres(t *testing.T) {
	dir := writersFolder(t)
	o := writersOptions(t)
	writersNeed(t, writersMeasure(t, o))
	long := filepath.Join(dir, strings.Repeat("x", 90))
	if err := os.Mkdir(long, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	r := writersMeasure(t, o)
	if len(r.Missing) != 1 || r.Missing[0].Peer != "PostgreSQL" || !strings.Contains(r.Missing[0].Reason, "TMPDIR") {
		t.Errorf("missing %v", r.Missing)
	}
	if n := len(r.Figures("Insert/impl=sqlite/goroutines=5", "rows/s")); n != 2 {
		t.Errorf("%d figures of SQLite, want 2", n)
	}
	if text := writersText(t, r, o); strings.Contains(text, "PostgreSQL: rows/s") || !strings.Contains(text, "not here") {
		t.Errorf("the report of a run without a server:\n%s", text)
	}
	writersLeftNothing(t, long)
}

// Neither the lack of writers nor the lack of contestants is a failure.
func TestWritersNone(t *testing.T) {
	writersFolder(t)
	o := writersOptions(t)
	o.Writers, o.Rows = nil, 0
	if r := writersMeasure(t, o); slices.ContainsFunc(r.Names(), func(n string) bool { return strings.HasPrefix(n, "Insert/") }) {
		t.Errorf("measured %q", r.Names())
	}
	o.Writers, o.Rows = []int{1, 5}, 20
	t.Setenv("PATH", t.TempDir())
	o.Cache = t.TempDir()
	r := writersMeasure(t, o)
	if len(r.Missing) != 1 || r.Missing[0].Peer != "inserts" {
		t.Errorf("missing %v", r.Missing)
	}
	if text := writersText(t, r, o); !strings.Contains(text, "Nothing was written") {
		t.Errorf("the report of a run without contestants:\n%s", text)
	}
}

func TestWritersRefused(t *testing.T) {
	for _, c := range []struct {
		writers []int
		rows    int
		want    string
	}{
		{[]int{0, 1}, 20, "writers is 0"},
		{[]int{5, 1}, 20, "writers must rise"},
		{[]int{1, 21}, 20, "rows is 20, but must be from 21"},
	} {
		o := lab.ChannelOptions{
			Options: lab.Options{Count: 1, Probe: []string{"false"}},
			Procs:   []int{1}, Cycles: []int{0}, Items: 100_000, Writers: c.writers, Rows: c.rows,
		}
		_, err := lab.Channel(t.Context(), o)
		var mistake *lab.InputError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v writers, %d rows: %v, want %q", c.writers, c.rows, err, c.want)
		}
	}
}
