package filelock_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"muster/internal/filelock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A lock belongs to an open file. Here two open files of one process stand for two processes.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, path), open(t, path)
	if current, err := filelock.Take(first); err != nil || !current {
		t.Fatal(current, err)
	}
	filelock.Sign(first)
	if _, err := filelock.Take(second); !errors.Is(err, filelock.ErrHeld) || !filelock.Held(second) {
		t.Error(err)
	}
	if got, want := filelock.Holder(path), fmt.Sprintf(" (process %d)", os.Getpid()); got != want {
		t.Errorf("held by %q, want %q", got, want)
	}
	first.Close()
	if third := open(t, path); filelock.Held(second) || filelock.Held(third) {
		t.Error("Held reports a lock that was released")
	}
	if current, err := filelock.Take(second); err != nil || !current {
		t.Error("after the first was closed:", current, err)
	}
}

func TestRemovedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	old := open(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if current, err := filelock.Take(old); err != nil || current {
		t.Error("a removed file is current:", current, err)
	}
	open(t, path)
	if current, err := filelock.Take(old); err != nil || current {
		t.Error("a replaced file is current:", current, err)
	}
	if got := filelock.Holder(path); got != "" {
		t.Errorf("Holder = %q for a file that nobody signed", got)
	}
}
