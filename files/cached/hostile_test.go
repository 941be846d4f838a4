package cached_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

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
func reopen(t *testing.T, of cached.Origin, folder, boot string, read func(s *cached.Store)) {
	t.Helper()
	copies, err := fileio.Open(folder, &direct.Engine{}, fileio.Options{Sync: fileio.SyncNone, Capacity: 20 << 20, Evict: []string{cached.Folder}})
	if err != nil {
		t.Fatal(err)
	}
	read(cached.New(of, copies, cached.Options{Boot: boot, Max: 20 << 20}))
	if err := copies.Close(); err != nil {
		t.Error(err)
	}
}

// A copy at the name of another one is not used, even if it is whole.
func TestSwappedCopies(t *testing.T) {
	for _, boot := range []string{"first", "second"} {
		of, folder := newOrigin(t), t.TempDir()
		one, two := enginetest.Content(1, 1000), enginetest.Content(2, 1000)
		var paths []string
		for _, data := range [][]byte{one, two} {
			enginetest.Put(t, of.Origin, named(data), data)
			paths = append(paths, copyThrough(t, folder, func() {
				reopen(t, of, folder, "first", func(s *cached.Store) { enginetest.CheckContent(t, s, named(data), data) })
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
		reopen(t, of, folder, boot, func(s *cached.Store) {
			for range 2 {
				enginetest.CheckContent(t, s, named(one), one)
				enginetest.CheckContent(t, s, named(two), two)
			}
		})
	}
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
					reopen(t, of, folder, "x", func(s *cached.Store) { enginetest.CheckContent(t, s, name, data) })
				})
				was, err := os.ReadFile(path)
				if what != "without bytes" {
					err = errors.Join(err, os.Remove(path))
				}
				if err := errors.Join(err, plant(path, was)); err != nil {
					t.Fatal(err)
				}
				for _, boot := range []string{"x", "y"} {
					reopen(t, of, folder, boot, func(s *cached.Store) {
						for range 2 {
							enginetest.CheckContent(t, s, name, data)
						}
					})
				}
			}
		})
	}
}

// A reader returns to the beginning of a file, and the file is deleted meanwhile.
func TestDeletedWhileReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, goOn := newOrigin(t), make(chan struct{})
		copies := openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20)
		late := &lateStore{copies, goOn}
		close(goOn)
		s := cached.New(of, late, cached.Options{Max: 20 << 20})
		data := enginetest.Content(1, 2*pieceSize)
		name := named(data)
		enginetest.Put(t, of.Origin, name, data)
		enginetest.CheckContent(t, s, name, data)
		f, err := s.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.CopyTo(t.Context(), &b, pieceSize, 10); err != nil {
			t.Fatal(err)
		}
		var first string // the file's first copy is the one without which a read needs a request
		infos, _, err := copies.List(t.Context(), "", "", 10)
		if err != nil || len(infos) != 2 {
			t.Fatal(infos, err)
		}
		for _, is := range infos {
			c, err := copies.Get(t.Context(), is.Name)
			if err != nil {
				t.Fatal(err)
			}
			b.Reset()
			if err := errors.Join(c.CopyTo(t.Context(), &b, 0, 100), c.Close()); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(b.Bytes(), data[:100]) {
				first = is.Name
			}
		}
		if err := copies.Delete(t.Context(), first, nil); err != nil { // as an eviction does
			t.Fatal(err)
		}
		late.goOn = make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			var b bytes.Buffer
			if err := f.CopyTo(t.Context(), &b, 0, 10); err != nil || !bytes.Equal(b.Bytes(), data[:10]) {
				t.Error(b.Bytes(), err)
			}
			f.Close()
		})
		synctest.Wait()
		deleted := make(chan error, 1)
		go func() { deleted <- s.Delete(t.Context(), name, nil) }()
		synctest.Wait()
		close(late.goOn)
		if err := <-deleted; err != nil {
			t.Error(err)
		}
		reader.Wait()
		synctest.Wait()
		if _, err := enginetest.Get(t.Context(), s, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a deleted file: %v", err)
		}
	})
}

// A large file that was verified stays so if some of its copies are evicted and made again.
func TestProofStays(t *testing.T) {
	of, folder := newOrigin(t), t.TempDir()
	copies := openCopies(t, &direct.Engine{}, folder, 20<<20)
	data := enginetest.Content(1, 3*pieceSize)
	name := named(data)
	enginetest.Put(t, of.Origin, name, data)
	s := cached.New(of, copies, cached.Options{Max: 20 << 20})
	enginetest.CheckContent(t, s, name, data)
	for begun := time.Now(); time.Since(begun) < 200*time.Millisecond; { // until the label may be remembered
		enginetest.CheckContent(t, s, name, data)
	}
	infos, _, err := copies.List(t.Context(), "", "", 10)
	if err != nil || len(infos) != 3 {
		t.Fatal(infos, err)
	}
	for _, is := range infos {
		c, err := copies.Get(t.Context(), is.Name)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := errors.Join(c.CopyTo(t.Context(), &b, 0, 100), c.Close()); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(b.Bytes(), data[:100]) {
			continue
		}
		if err := copies.Delete(t.Context(), is.Name, nil); err != nil {
			t.Fatal(err)
		}
	}
	enginetest.CheckContent(t, s, name, data)
	s = cached.New(of, copies, cached.Options{Max: 20 << 20}) // a restart
	of.gets.Store(0)
	of.stats.Store(0)
	enginetest.CheckContent(t, s, name, data)
	of.wants(t, 0, 0)
}

// A file whose old copy could not be removed is read without a request again, once the copy is gone.
func TestCopyGoes(t *testing.T) {
	of, engine := newOrigin(t), faulty.New(&direct.Engine{}, faulty.Options{})
	s := cached.New(of, openCopies(t, engine, t.TempDir(), 20<<20), cached.Options{})
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
		s := cached.New(of, copies, cached.Options{Name: fmt.Sprint(i)})
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
