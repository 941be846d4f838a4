package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
	"muster/files/load"
)

// TestMain lets the test binary be a server, as load.Engines starts one.
func TestMain(m *testing.M) {
	if engine, ok := os.LookupEnv(engineKey); ok {
		if err := serve(engine, os.Getenv(dataKey)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const engineKey, dataKey = "LOAD_TEST_ENGINE", "LOAD_TEST_DATA"

// serve serves a folder until SIGTERM, as muster serve does.
func serve(engine, data string) error {
	switch engine {
	case "none":
		return errors.New("engine none: not built in")
	case "other":
		fmt.Fprintln(os.Stderr, "another engine is used: no ring")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := fileio.Open(data, &direct.Engine{}, fileio.Options{Sync: fileio.SyncNone})
	if err != nil {
		return err
	}
	defer s.Close()
	threads := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "muster_os_threads %d\n", len(engine)) })
	for name, handler := range map[string]http.Handler{"listening": files.NewServer(s, files.Options{}), "admin": threads} {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: handler}
		defer server.Shutdown(context.Background())
		go server.Serve(l)
		fmt.Fprintf(os.Stderr, "time=now level=INFO msg=\"%s on http://%s\"\n", name, l.Addr())
	}
	<-ctx.Done()
	if engine == "broken" {
		return errors.New("engine broken: it could not end")
	}
	return nil
}

// compare measures engines of servers that are this test; folders are made in dir.
func compare(t *testing.T, dir string, engines ...string) (*load.Comparison, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return load.Engines(t.Context(), load.EnginesOptions{
		Load: load.Options{Connections: 3, Requests: 50, Size: 2000},
		Ops:  []load.Op{load.Upload, load.Download}, Engines: engines, Rounds: 2, Dir: dir,
		FallbackText: "another engine",
		Server: func(engine, data string) []string {
			return []string{"/usr/bin/env", engineKey + "=" + engine, dataKey + "=" + data, self}
		},
	})
}

func TestEngines(t *testing.T) {
	dir := t.TempDir()
	c, err := compare(t, dir, "one", "none", "three")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		engine  string
		op      load.Op
		threads int
	}{{"one", load.Upload, 3}, {"three", load.Upload, 5}, {"one", load.Download, 3}, {"three", load.Download, 5}} {
		row := c.Rows[i]
		if row.Engine != want.engine || row.Op != want.op || row.Runs != 2 || row.Failed != 0 || row.ThreadsPeak != want.threads ||
			row.Wall <= 0 || row.PerSecond <= 0 || row.P50 <= 0 || row.P99 < row.P50 || row.P999 < row.P99 {
			t.Errorf("row %d is %+v, want one of %v", i, row, want)
		}
	}
	if len(c.Rows) != 4 || len(c.Runs) != 8 || len(c.Missing) != 1 || !strings.Contains(c.Missing[0].Reason, "engine none: not built in") {
		t.Errorf("%d rows, %d runs, missing: %v", len(c.Rows), len(c.Runs), c.Missing)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left in the folder (%v)", left, err)
	}
	checkReports(t, c)
}

func checkReports(t *testing.T, c *load.Comparison) {
	t.Helper()
	var text, lines, page bytes.Buffer
	for _, err := range []error{c.Text(&text), c.JSON(&lines), c.HTML(&page)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"upload: 50 requests of 2 KiB, 3 connections, http; medians of 2 rounds\n", " mode ", " OS threads ", "none: exit status 3: engine none: not built in\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, &text)
		}
	}
	kinds := map[string]int{}
	for line := range bytes.Lines(lines.Bytes()) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			t.Fatal(err)
		}
		kinds[object["type"].(string)]++
		if object["engine"] == nil {
			t.Errorf("no engine: %s", line)
		}
	}
	if kinds["load"] != 8 || kinds["engine"] != 5 {
		t.Errorf("lines of %v", kinds)
	}
	if n := strings.Count(page.String(), "<svg"); n != 4 {
		t.Errorf("the page has %d charts, want one for each operation and figure", n)
	}
}

// Figures of a fallback engine are in no table.
func TestEngineThatIsAnother(t *testing.T) {
	dir := t.TempDir()
	c, err := compare(t, dir, "one", "other")
	if err != nil || len(c.Rows) != 2 || len(c.Missing) != 1 || c.Missing[0] != (load.MissingEngine{Engine: "other", Reason: "another engine is used: no ring"}) {
		t.Errorf("%v: %d rows, missing: %v", err, len(c.Rows), c.Missing)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left in the folder (%v)", left, err)
	}
}

// A server that fails at its end does not discard the results of others.
func TestEngineThatBreaks(t *testing.T) {
	c, err := compare(t, "", "broken", "fine")
	if err != nil || len(c.Missing) != 1 || !strings.Contains(c.Missing[0].Reason, "it could not end") {
		t.Errorf("%v, missing: %v", err, c)
	}
	if c, err = compare(t, "", "none"); err == nil || !strings.Contains(err.Error(), "no engine could be measured") || len(c.Rows) > 0 {
		t.Errorf("%v, want that nothing was measured", err)
	}
}

func TestEnginesInterrupted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	c, err := load.Engines(ctx, load.EnginesOptions{
		Load: load.Options{Connections: 2, Requests: 1_000_000_000, Size: 100, Progress: func(load.Progress) { cancel() }},
		Ops:  []load.Op{load.Upload}, Engines: []string{"one"}, Rounds: 3, Dir: dir,
		Server: func(engine, data string) []string {
			return []string{"/usr/bin/env", engineKey + "=" + engine, dataKey + "=" + data, self}
		},
	})
	if !errors.Is(err, context.Canceled) || len(c.Runs) != 1 || !c.Runs[0].Result.Interrupted || len(c.Rows) != 0 {
		t.Errorf("%v, runs %v", err, c.Runs)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left in the folder (%v)", left, err)
	}
}
