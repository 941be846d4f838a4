package cached_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files/cached"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// copyThrough returns the path of the only copy that a read adds to a folder.
func copyThrough(t *testing.T, folder string, read func()) string {
	t.Helper()
	list := func() map[string]bool {
		all, err := filepath.Glob(filepath.Join(folder, "??", "copies%2f*"))
		if err != nil {
			t.Fatal(err)
		}
		set := map[string]bool{}
		for _, path := range all {
			set[path] = true
		}
		return set
	}
	before := list()
	read()
	added := ""
	for path := range list() {
		if !before[path] {
			if added != "" {
				t.Fatal("two copies were added")
			}
			added = path
		}
	}
	if added == "" {
		t.Fatal("no copy was added")
	}
	return added
}

// reopen calls read with a store whose copies are in a folder, and closes the copies afterwards. So
// they may be changed.
func reopen(t *testing.T, of cached.Origin, folder string, read func(s *cached.Store)) {
	t.Helper()
	copies, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{Sync: fileio.SyncNone, Capacity: 20 << 20, Evict: []string{cached.Folder}})
	if err != nil {
		t.Fatal(err)
	}
	read(cached.New(of, copies, cached.Options{Max: 20 << 20}))
	if err := copies.Close(); err != nil {
		t.Error(err)
	}
}

// A copy at the name of another one is not used, even if it is whole.
func TestSwappedCopies(t *testing.T) {
	of, folder := newOrigin(t), t.TempDir()
	one, two := enginetest.Content(1, 1000), enginetest.Content(2, 1000)
	var paths []string
	for _, data := range [][]byte{one, two} {
		enginetest.Put(t, of.Origin, named(data), data)
		paths = append(paths, copyThrough(t, folder, func() {
			reopen(t, of, folder, func(s *cached.Store) { enginetest.CheckContent(t, s, named(data), data) })
		}))
	}
	first, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(paths[1])
	if err := errors.Join(err, os.WriteFile(paths[0], second, 0o644), os.WriteFile(paths[1], first, 0o644)); err != nil {
		t.Fatal(err)
	}
	reopen(t, of, folder, func(s *cached.Store) {
		for range 2 {
			enginetest.CheckContent(t, s, named(one), one)
			enginetest.CheckContent(t, s, named(two), two)
		}
	})
}

// Something else at the name of a copy harms no read.
func TestPlanted(t *testing.T) {
	for what, plant := range map[string]func(path string, was []byte) error{
		"link": func(path string, _ []byte) error { return os.Symlink("/etc/passwd", path) },
		"link to copy": func(path string, was []byte) error {
			return errors.Join(os.WriteFile(path+"~", was, 0o644), os.Symlink(path+"~", path))
		},
		"pipe":   func(path string, _ []byte) error { return syscall.Mkfifo(path, 0o644) },
		"folder": func(path string, _ []byte) error { return os.MkdirAll(filepath.Join(path, "x"), 0o755) },
		"empty":  func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o644) },
		"large": func(path string, was []byte) error {
			return os.WriteFile(path, append(make([]byte, 3<<20), was...), 0o644)
		},
		"no label":      func(path string, _ []byte) error { return os.WriteFile(path, make([]byte, 1024), 0o644) },
		"label only":    func(path string, was []byte) error { return os.WriteFile(path, was[len(was)-1024:], 0o644) },
		"a byte less":   func(path string, was []byte) error { return os.WriteFile(path, was[1:], 0o644) },
		"a byte more":   func(path string, was []byte) error { return os.WriteFile(path, append([]byte{0}, was...), 0o644) },
		"without bytes": func(path string, was []byte) error { return os.Truncate(path, 0) },
	} {
		t.Run(what, func(t *testing.T) {
			of, folder := newOrigin(t), t.TempDir()
			data := enginetest.Content(1, 1000)
			for _, name := range []string{"a", named(data)} {
				enginetest.Put(t, of.Origin, name, data)
				path := copyThrough(t, folder, func() {
					reopen(t, of, folder, func(s *cached.Store) { enginetest.CheckContent(t, s, name, data) })
				})
				was, err := os.ReadFile(path)
				if what != "without bytes" {
					err = errors.Join(err, os.Remove(path))
				}
				if err := errors.Join(err, plant(path, was)); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					reopen(t, of, folder, func(s *cached.Store) {
						for range 2 {
							enginetest.CheckContent(t, s, name, data)
						}
					})
				}
			}
		})
	}
}

// A file whose old copy could not be removed is read without a request again, once the copy is gone.
func TestCopyGoes(t *testing.T) {
	of, engine := newOrigin(t), faulty.New(&direct.Engine{}, faulty.Options{})
	s := cached.New(of, openCopies(t, engine, t.TempDir(), 20<<20), cached.Options{Max: 20 << 20})
	name := named([]byte("content"))
	enginetest.Put(t, s, name, []byte("content"))
	enginetest.CheckContent(t, s, name, []byte("content"))
	engine.Break(1, 1, 0)
	enginetest.Put(t, s, name, []byte("content"))
	engine.Break(1, 0, 0)
	enginetest.Put(t, s, name, []byte("content"))
	of.stats.Store(0)
	of.gets.Store(0)
	for range 3 {
		enginetest.CheckContent(t, s, name, []byte("content"))
	}
	of.wants(t, 1, 0)
}

// The copies of another bucket's files in the same folder are other copies.
func TestOtherBucket(t *testing.T) {
	folder, data := t.TempDir(), []byte("content")
	for i := range 2 {
		of := newOrigin(t)
		copies, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{Sync: fileio.SyncNone, Capacity: 20 << 20, Evict: []string{cached.Folder}})
		if err != nil {
			t.Fatal(err)
		}
		s := cached.New(of, copies, cached.Options{Name: fmt.Sprint(i), Max: 20 << 20})
		for _, name := range []string{"a", named(data)} {
			if _, err := s.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			enginetest.Put(t, s, name, data)
			enginetest.CheckContent(t, s, name, data)
		}
		if err := copies.Close(); err != nil {
			t.Error(err)
		}
	}
}
