package probe_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/lab/probe"
	"muster/lab/results"
)

func TestFiles(t *testing.T) {
	for _, o := range []probe.Files{{Files: 7, Size: 5000, Workers: 1}, {Files: 9, Workers: 3}} {
		expect(t, o, o.Files, results.CreatePerOp, results.ReadPerOp, results.StatPerOp, results.RenamePerOp, results.RemovePerOp)
	}
	for _, folders := range []int{1, 3} {
		expect(t, probe.Rename{Files: 1_001, Folders: folders}, 1_001, results.NsPerOp)
	}
	for _, logger := range probe.LogFormats() {
		for _, o := range []probe.Log{{Goroutines: 1}, {Goroutines: 3, Buffered: true}} {
			o.Logger, o.Lines = logger, 10
			expect(t, o, 10-10%o.Goroutines, results.NsPerOp)
		}
	}
}

// A probe does not touch a folder that has contents, and ends with its context.
func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "log")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, q := range []probe.Question{
		probe.Files{Files: 3, Workers: 1}, probe.Rename{Files: 3, Folders: 1}, probe.Log{Logger: "log", Lines: 1, Goroutines: 1},
		probe.Store{Engine: probe.Engine{Name: probe.Direct}, Files: 3, Goroutines: 1}, probe.Serve{Engine: probe.Engine{Name: probe.Direct}},
	} {
		if _, err := tryIn(t.Context(), dir, q); err == nil {
			t.Errorf("%T accepts a folder with a file in it", q)
		}
		switch q.(type) {
		case probe.Log, probe.Serve: // they do not look at the context
			continue
		}
		if _, err := tryIn(ended, t.TempDir(), q); !errors.Is(err, context.Canceled) {
			t.Errorf("%T: %v", q, err)
		}
	}
	if text, err := os.ReadFile(mine); string(text) != "mine" {
		t.Errorf("the existing file is %q, %v", text, err)
	}
}

func TestWaits(t *testing.T) {
	for _, goroutines := range []int{1, 4} {
		expect(t, probe.Lock{Goroutines: goroutines, Pairs: 1_002}, 1_002-1_002%goroutines, results.NsPerOp)
	}
	for _, threads := range []bool{false, true} {
		expect(t, probe.WakeUp{Passes: 100, Threads: threads}, 100, results.NsPerOp)
	}
}

// availableEngines returns the engines that this machine can run.
func availableEngines(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(probe.Engines(), func(name string) bool {
		err := probe.Engine{Name: name, Threads: 1}.CheckAvailable()
		if err != nil {
			t.Logf("%s: %v", name, err)
		}
		return err != nil
	})
}

func TestStore(t *testing.T) {
	for _, engine := range availableEngines(t) {
		for _, size := range []int{0, 5000, 300_000} {
			expect(t, probe.Store{Engine: probe.Engine{Name: engine, Threads: 7}, Files: 9, Size: size, Goroutines: 4}, 9, results.PutPerOp, results.GetPerOp)
		}
	}
	for _, o := range []probe.Engine{{Name: "none", Threads: 1}, {Name: probe.Pool}} {
		if o.CheckAvailable() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestUpload(t *testing.T) {
	for _, engine := range availableEngines(t) {
		s, err := try(t, probe.Upload{Connections: 5, Requests: 33, Size: 5000}, self(t, probe.Serve{Engine: probe.Engine{Name: engine, Threads: 2}})...)
		if ns, _ := s.Value(results.NsPerOp); err != nil || s.N != 33 || ns <= 0 {
			t.Errorf("%s: %+v, %v, want 33 uploads that took some time", engine, s, err)
		}
	}
}

// A server that does not start, does not exist or rejects an upload is an error with the
// reason.
func TestUploadThatFails(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no room", http.StatusInsufficientStorage)
	}))
	defer refusing.Close()
	for want, command := range map[string][]string{
		`exit status 1: unknown engine "none"`: self(t, probe.Serve{Engine: probe.Engine{Name: "none"}}),
		"no such file":                         {"/no/such/program"},
		"cannot be reached":                    {"sh", "-c", "echo http://127.0.0.1:1; cat; echo 1"},
		"20 of 20 uploads failed: ":            {"sh", "-c", "echo " + refusing.URL + "; cat; echo 1"},
		"a command for the server is required": nil,
		"did not print its URL: EOF":           {"true"},
	} {
		s, err := try(t, probe.Upload{Connections: 2, Requests: 20, Size: 10}, command...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %q", command, s, err, want)
		}
	}
}
