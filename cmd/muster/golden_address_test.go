package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files"
)

// team is a file server, and the folder of its users.
type team struct {
	*testing.T
	bin, dir, golden string
}

// newTeam serves a new store through the handler between.
func newTeam(t *testing.T, between func(http.Handler) http.Handler) team {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("cases run on Linux only")
	}
	engine := &direct.Engine{}
	store, err := fileio.Open(t.TempDir(), engine, fileio.Options{Sync: fileio.SyncNone})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(between(files.NewServer(store, files.Options{})))
	t.Cleanup(func() {
		server.Close()
		if err := errors.Join(store.Close(), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	m := team{t, build(t), t.TempDir(), server.URL + "/files/main.golden"}
	for _, name := range []string{"a", "b", "c"} {
		m.write("src/"+name, name+"\n", 0o644)
	}
	return m
}

func (m team) write(name, text string, mode os.FileMode) {
	m.Helper()
	path := filepath.Join(m.dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err != nil {
		m.Fatal(err)
	}
}

// muster runs the program and returns its exit status and its whole output.
func (m team) muster(args ...string) (status int, said string) {
	var out bytes.Buffer
	c := exec.CommandContext(m.Context(), m.bin+"/muster", args...)
	c.Dir, c.Stdout, c.Stderr = m.dir, &out, &out
	if err := c.Run(); err != nil && c.ProcessState == nil {
		return -1, err.Error()
	}
	return c.ProcessState.ExitCode(), out.String()
}

// wants runs the program and requires an exit status.
func (m team) wants(status int, args ...string) string {
	m.Helper()
	got, said := m.muster(args...)
	if got != status {
		m.Fatalf("muster %q: exit status %d, not %d:\n%s", args, got, status, said)
	}
	return said
}

// Two people accept at the same moment: each has seen the golden as it is, and sends a new one
// before the other has done so. One of them has to check again, and nothing of the other's
// decisions is lost.
func TestAcceptAtOnce(t *testing.T) {
	var together atomic.Bool
	var both sync.WaitGroup
	m := newTeam(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && together.Load() {
				both.Done()
				both.Wait()
			}
			next.ServeHTTP(w, r)
		})
	})
	check := func(n int) []string {
		return append([]string{"check", "src", "--golden", m.golden, "--state", fmt.Sprint("state-", n), "--shell"}, "--", fmt.Sprintf("echo %d; cat {in}", n))
	}
	m.wants(0, "record", "src", "--golden", m.golden, "--", "cat")
	for n := range 2 {
		m.wants(1, check(n)...)
	}
	both.Add(2)
	together.Store(true)
	var status [2]int
	var said [2]string
	var ended sync.WaitGroup
	for n := range 2 {
		ended.Go(func() { status[n], said[n] = m.muster("accept", "--all", "--state", fmt.Sprint("state-", n)) })
	}
	ended.Wait()
	together.Store(false)
	won, lost := 0, 1
	if status[0] != 0 {
		won, lost = 1, 0
	}
	if status[won] != 0 || status[lost] != 2 || !strings.Contains(said[lost], "was changed by somebody else just now, and nothing of this was accepted: run muster check again, then accept") {
		t.Fatalf("%d: %s%d: %s", status[0], said[0], status[1], said[1])
	}
	m.wants(0, check(won)...)
	if said := m.wants(2, "accept", "--all", "--state", fmt.Sprint("state-", lost)); !strings.Contains(said, "is not the one that run") {
		t.Error(said)
	}
	m.wants(1, check(lost)...)
	m.wants(0, "accept", "--all", "--state", fmt.Sprint("state-", lost))
	m.wants(0, check(lost)...)
}

// A recorded golden that could not be sent is kept, and --resume sends it without running
// anything again.
func TestRecordedButNotSent(t *testing.T) {
	var full atomic.Bool
	m := newTeam(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && full.Load() {
				http.Error(w, "no space left on device", http.StatusInsufficientStorage)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	ran := filepath.Join(sharedFolder(t), "ran")
	m.write("tool", "#!/bin/sh\necho \"$1\" >> "+ran+"\ncat \"$1\"\n", 0o755)
	record := []string{"record", "src", "--observe", "none", "--golden", m.golden, "--", "./tool", "{in}"}
	full.Store(true)
	said := m.wants(3, record...)
	if !strings.Contains(said, "507 Insufficient Storage: no space left on device: the server has no room; this one is kept as .muster/recorded/") || !strings.Contains(said, ": muster record --resume sends it") {
		t.Error(said)
	}
	full.Store(false)
	m.wants(2, "check", "--golden", m.golden, "src", "--", "./tool", "{in}")
	m.wants(0, append([]string{"record", "--resume"}, record[1:]...)...)
	if lines, err := os.ReadFile(ran); err != nil || strings.Count(string(lines), "\n") != 6 {
		t.Errorf("these ran: %q, %v; want each of three twice", lines, err)
	}
	m.wants(0, "check", "--golden", m.golden)
	if left, err := filepath.Glob(m.dir + "/.muster/recorded/*"); len(left) > 0 || err != nil {
		t.Errorf("%q stay, %v", left, err)
	}
}
