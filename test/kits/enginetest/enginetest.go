// Package enginetest is the test suite for every engine of package fileio, and for stores of
// every kind. It checks that stores with each durability keep their promises. Only tests may import it.
package enginetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"muster/fileio"
)

// Durabilities returns all values of fileio.Sync, by name.
func Durabilities() map[string]fileio.Sync {
	return map[string]fileio.Sync{"none": fileio.SyncNone, "each": fileio.SyncEach, "group": fileio.SyncGroup}
}

// Run runs the suite. start creates an engine, which the suite closes.
func Run(t *testing.T, start func(t *testing.T) fileio.Engine) {
	for durability, sync := range Durabilities() {
		if testing.Short() && sync == fileio.SyncEach {
			continue // hundreds of flushes of the disk, one by one
		}
		t.Run(durability, func(t *testing.T) {
			RunStore(t, func(t *testing.T) Store { return Open(t, start(t), t.TempDir(), fileio.Options{Sync: sync}) })
			t.Run("replace while reading", func(t *testing.T) {
				replaceWhileRead(t, Open(t, start(t), t.TempDir(), fileio.Options{Sync: sync}))
			})
			t.Run("planted files", func(t *testing.T) { plantedFiles(t, start, sync) })
			t.Run("reopen", func(t *testing.T) { reopen(t, start, sync) })
			t.Run("little memory", func(t *testing.T) {
				for _, test := range []func(*testing.T, Store){manyClients, cancelledCallers} {
					test(t, Open(t, start(t), t.TempDir(), fileio.Options{Sync: sync, MemoryMax: 1 << 20}))
				}
			})
		})
	}
	t.Run("jobs", func(t *testing.T) { jobs(t, start(t)) })
}

// Open opens a store for a test. The test's cleanup closes the store and its engine.
func Open(t testing.TB, engine fileio.Engine, folder string, o fileio.Options) *fileio.Store {
	t.Helper()
	s, err := fileio.Open(folder, engine, o)
	if err != nil {
		t.Fatal(errors.Join(err, engine.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), engine.Close()); err != nil {
			t.Error(err)
		}
		if left := TempFiles(t, folder); len(left) > 0 {
			t.Errorf("temporary files remain: %q", left)
		}
	})
	return s
}

// plantedFiles puts links, folders and pipes where files were. The store must not treat
// them as files, nor read or write their targets.
func plantedFiles(t *testing.T, start func(*testing.T) fileio.Engine, sync fileio.Sync) {
	folder, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(t, start(t), folder, fileio.Options{Sync: sync})
	for kind, plant := range map[string]func(string) error{
		"link": func(path string) error { return os.Symlink(outside, path) },
		"pipe": func(path string) error { return unix.Mkfifo(path, 0o600) },
		"dir":  func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		Put(t, s, kind, []byte("x"))
		found, err := filepath.Glob(filepath.Join(folder, "??", kind))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		if err := errors.Join(os.Remove(found[0]), plant(found[0])); err != nil {
			t.Fatal(err)
		}
		if got, err := Get(t.Context(), s, kind); err == nil {
			t.Errorf("a %s is read: %q", kind, got)
		}
		if info, err := s.Stat(t.Context(), kind); err == nil {
			t.Errorf("a %s is a file: %+v", kind, info)
		}
		if kind != "dir" {
			Put(t, s, kind, []byte("new"))
			CheckContent(t, s, kind, []byte("new"))
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "secret" {
		t.Errorf("the file outside of the folder has %q, %v", text, err)
	}
}

// reopen checks that a reopened store has all files that were put and no unfinished ones.
func reopen(t *testing.T, start func(*testing.T) fileio.Engine, sync fileio.Sync) {
	folder := t.TempDir()
	o := fileio.Options{Sync: sync}
	engine := start(t)
	s, err := fileio.Open(folder, engine, o)
	if err != nil {
		t.Fatal(err)
	}
	info := Put(t, s, "kept/x", Content(1, 300_000))
	other := start(t)
	if second, err := fileio.Open(folder, other, o); err == nil {
		t.Error("two stores have opened the folder", second.Close())
	}
	if err := errors.Join(s.Close(), engine.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(folder, "3f", "~stale")
	if err := os.WriteFile(stale, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = Open(t, start(t), folder, o)
	CheckContent(t, s, "kept/x", Content(1, 300_000))
	if again, err := s.Stat(t.Context(), "kept/x"); err != nil || again != info {
		t.Errorf("%+v, %v, want %+v", again, err, info)
	}
	if _, err := os.Lstat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unfinished file remains: %v", err)
	}
}

// jobs executes one job without a store and checks that the engine counts it.
func jobs(t *testing.T, engine fileio.Engine) {
	defer func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	}()
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	j := fileio.Job{Op: fileio.OpPut, Folder: int(folder.Fd()), Name: "x", Temp: "~x", Data: []byte("x")}
	if err := engine.Do(&j); err != nil {
		t.Error(err)
	}
	if stats := engine.Stats(); stats.Done != 1 || stats.Running != 0 || stats.Waiting != 0 || stats.Service <= 0 {
		t.Errorf("%+v", stats)
	}
}

// RunStore runs the tests that stores of every kind pass, except those named in without. open opens an
// empty store.
func RunStore(t *testing.T, open func(t *testing.T) Store, without ...string) {
	for name, test := range map[string]func(*testing.T, Store){
		"sizes": sizes, "replace": replace, "missing": missing, "conditions": conditions, "conditional deletes": conditionalDeletes, "names": names,
		"lists": lists, "failing readers": failingReaders, "ended contexts": endedContexts,
		"one name": oneName, "many at once": manyClients, "cancelled callers": cancelledCallers,
	} {
		if !slices.Contains(without, name) {
			t.Run(name, func(t *testing.T) { test(t, open(t)) })
		}
	}
}
