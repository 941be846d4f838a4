package probe_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"muster/lab/probe"
)

// enginesHere returns the engines that this machine can run.
func availableEngines(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(probe.Engines(), func(name string) bool {
		err := probe.EngineOptions{Name: name, Threads: 1}.CheckAvailable()
		if err != nil {
			t.Logf("%s: %v", name, err)
		}
		return err != nil
	})
}

// expectThreads checks the number of threads, if the system reports it.
func expectThreads(t *testing.T, got, least int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		least = 0
	}
	if got < least {
		t.Errorf("%d threads, want %d or more", got, least)
	}
}

func TestStore(t *testing.T) {
	for _, engine := range availableEngines(t) {
		for _, size := range []int{0, 5000, 300_000} {
			dir := t.TempDir()
			o := probe.StoreOptions{Dir: dir, Engine: probe.EngineOptions{Name: engine, Threads: 7}, Files: 9, Size: size, Goroutines: 4}
			cost, err := probe.Store(t.Context(), o)
			if err != nil {
				t.Fatalf("%s: %v", engine, err)
			}
			expectCost(t, engine+" put", cost.Put, 9)
			expectCost(t, engine+" get", cost.Get, 9)
			least := 2
			if engine == probe.CThreads { // CThreads starts all threads at once
				least = 8
			}
			expectThreads(t, cost.Threads, least)
			expectEmpty(t, dir)
		}
	}
}

func TestUpload(t *testing.T) {
	for _, engine := range availableEngines(t) {
		dir := t.TempDir()
		u, err := probe.Upload(t.Context(), probe.UploadOptions{
			Server: []string{self(t), serveArgument, engine, dir}, Connections: 5, Requests: 33, Size: 5000,
		})
		if err != nil {
			t.Fatalf("%s: %v", engine, err)
		}
		if u.N != 33 || u.Wall <= 0 {
			t.Errorf("%s: %+v, want 33 uploads that took some time", engine, u)
		}
		expectThreads(t, u.Threads, 2)
		expectEmpty(t, dir)
	}
}

// A server that does not start, does not exist or rejects an upload is an error with the
// reason.
func TestUploadThatFails(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no room", http.StatusInsufficientStorage)
	}))
	defer refusing.Close()
	used := t.TempDir()
	if err := os.WriteFile(used+"/mine", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, command := range map[string][]string{
		"exit status 1: " + used + " is not empty": {self(t), serveArgument, probe.Direct, used},
		"no such file":                         {"/no/such/program"},
		"cannot be reached":                    {"sh", "-c", "echo http://127.0.0.1:1; cat; echo 1"},
		"20 of 20 uploads failed: ":            {"sh", "-c", "echo " + refusing.URL + "; cat; echo 1"},
		"a command for the server is required": nil,
		`strconv.Atoi: parsing "many"`:         {"sh", "-c", "echo " + refusing.URL + "; cat; echo many"},
		"did not print its URL: EOF":           {"true"},
	} {
		u, err := probe.Upload(t.Context(), probe.UploadOptions{Server: command, Connections: 2, Requests: 20, Size: 10})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %q", command, u, err, want)
		}
	}
}
