package probe_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"muster/lab/probe"
)

// expectCost checks conditions that hold for any cost on any machine.
func expectCost(t *testing.T, what string, c probe.Cost, n int) {
	t.Helper()
	if c.N != n || c.Wall <= 0 || c.CPU < 0 {
		t.Errorf("%s: %+v, want %d operations that took some time", what, c, n)
	}
}

func expectEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestFiles(t *testing.T) {
	for _, o := range []probe.FilesOptions{{Files: 7, Size: 5000}, {Files: 9, Size: 0, Workers: 3}} {
		o.Dir = t.TempDir()
		cost, err := probe.Files(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]probe.Cost{
			"create": cost.Create, "read": cost.Read, "stat": cost.Stat, "rename": cost.Rename, "remove": cost.Remove,
		} {
			expectCost(t, what, c, o.Files)
		}
		expectEmpty(t, o.Dir)
	}
}

func TestRename(t *testing.T) {
	for _, folders := range []int{1, 3} {
		dir := t.TempDir()
		cost, err := probe.Rename(t.Context(), probe.RenameOptions{Dir: dir, Files: 1_001, Folders: folders})
		if err != nil {
			t.Fatal(err)
		}
		expectCost(t, "rename", cost, 1_001)
		expectEmpty(t, dir)
	}
}

// The probe does not touch a folder that has contents.
func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "00000001")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := probe.Files(t.Context(), probe.FilesOptions{Dir: dir, Files: 3}); err == nil {
		t.Error("Files accepts a folder with a file in it")
	}
	if _, err := probe.Rename(t.Context(), probe.RenameOptions{Dir: dir, Files: 3, Folders: 1}); err == nil {
		t.Error("Rename accepts a folder with a file in it")
	}
	if _, err := probe.Store(t.Context(), probe.StoreOptions{Dir: dir, Engine: probe.EngineOptions{Name: probe.Direct}, Files: 3, Goroutines: 1}); err == nil {
		t.Error("Store accepts a folder with a file in it")
	}
	if _, err := probe.Log(probe.LogOptions{Logger: "log", File: mine, Lines: 1}); err == nil {
		t.Error("Log accepts an existing file")
	}
	if text, err := os.ReadFile(mine); string(text) != "mine" {
		t.Errorf("the existing file is %q, %v", text, err)
	}
}

func TestFilesEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	dir := t.TempDir()
	if _, err := probe.Files(ctx, probe.FilesOptions{Dir: dir, Files: 3}); !errors.Is(err, context.Canceled) {
		t.Errorf("Files: %v", err)
	}
	if _, err := probe.Rename(ctx, probe.RenameOptions{Dir: dir, Files: 3, Folders: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Rename: %v", err)
	}
	if _, err := probe.Store(ctx, probe.StoreOptions{Dir: dir, Engine: probe.EngineOptions{Name: probe.Direct}, Files: 3, Goroutines: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Store: %v", err)
	}
	expectEmpty(t, dir)
}

func TestLog(t *testing.T) {
	dir := t.TempDir()
	for _, logger := range probe.LogFormats() {
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range []int{0, 3} {
				cost, err := probe.Log(probe.LogOptions{
					Logger: logger, File: filepath.Join(dir, "log"), Lines: 10, Goroutines: goroutines, Buffered: buffered,
				})
				if err != nil {
					t.Fatal(err)
				}
				expectCost(t, logger, cost, 10-10%max(1, goroutines))
			}
		}
	}
	expectEmpty(t, dir)
}

func TestLock(t *testing.T) {
	for _, goroutines := range []int{1, 4} {
		cost, err := probe.Lock(goroutines, 1_002)
		if err != nil {
			t.Fatal(err)
		}
		expectCost(t, "lock", cost, 1_002-1_002%goroutines)
	}
}

func TestWakeUp(t *testing.T) {
	for _, threads := range []bool{false, true} {
		cost, err := probe.WakeUp(101, threads)
		if err != nil {
			t.Fatal(err)
		}
		expectCost(t, "wake-up", cost, 100)
	}
}

func TestNumbersRefused(t *testing.T) {
	dir := t.TempDir()
	refused := map[string]func() error{
		"no files": func() error { _, err := probe.Files(t.Context(), probe.FilesOptions{Dir: dir}); return err },
		"no folders": func() error {
			_, err := probe.Rename(t.Context(), probe.RenameOptions{Dir: dir, Files: 1})
			return err
		},
		"no lines": func() error {
			_, err := probe.Log(probe.LogOptions{Logger: "log", File: filepath.Join(dir, "log")})
			return err
		},
		"no logger": func() error {
			_, err := probe.Log(probe.LogOptions{Logger: "none", File: filepath.Join(dir, "log"), Lines: 1})
			return err
		},
		"no files in a store": func() error {
			_, err := probe.Store(t.Context(), probe.StoreOptions{Dir: dir, Engine: probe.EngineOptions{Name: probe.Direct}, Goroutines: 1})
			return err
		},
		"no engine":     func() error { return probe.EngineOptions{Name: "none", Threads: 1}.CheckAvailable() },
		"no threads":    func() error { return probe.EngineOptions{Name: probe.Pool}.CheckAvailable() },
		"a bound pool":  func() error { return probe.EngineOptions{Name: probe.Pool, Threads: 1, Bound: true}.CheckAvailable() },
		"no goroutines": func() error { _, err := probe.Lock(0, 1); return err },
		"one pass":      func() error { _, err := probe.WakeUp(1, false); return err },
	}
	for what, try := range refused {
		if try() == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
