package fileio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
)

// Files stay open for a while after Get, and each Get sees what was put before it. A reader
// never sees an older file than one that somebody has seen before.
func TestOpenFilesAreCurrent(t *testing.T) {
	s := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	const rounds = 100
	var mu sync.Mutex
	var seen uint32
	last := func() uint32 {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
	put := func(n int) {
		enginetest.Put(t, s, "x", binary.BigEndian.AppendUint32(nil, uint32(n)))
		mu.Lock()
		defer mu.Unlock()
		seen = max(seen, uint32(n))
	}
	put(0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				before := last()
				got := binary.BigEndian.Uint32(read(t, s, "x"))
				mu.Lock()
				seen = max(seen, got)
				mu.Unlock()
				if got < before {
					t.Errorf("file %d was read after file %d", got, before)
					return
				}
			}
		})
	}
	for n := range rounds {
		put(n + 1)
	}
	close(done)
	readers.Wait()
	if err := s.Delete(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a delete: %v", err)
	}
}

func read(t *testing.T, s *fileio.Store, name string) []byte {
	t.Helper()
	f, err := s.Get(t.Context(), name)
	if err != nil {
		t.Error(err)
		return make([]byte, 4)
	}
	var b bytes.Buffer
	if err := errors.Join(f.CopyTo(t.Context(), &b, 0, f.Size), f.Close()); err != nil {
		t.Error(err)
	}
	return b.Bytes()
}

// Files are kept open for reuse, and closed after a second, also if nobody reads any more.
func TestOpenFilesAreClosed(t *testing.T) {
	folder := t.TempDir()
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: fileio.SyncNone})
	enginetest.Put(t, s, "x", []byte("some"))
	enginetest.Put(t, s, "y", enginetest.Content(1, 100_000))
	read(t, s, "x")
	read(t, s, "y")
	if n := openBelow(t, folder); reportsCached(t, folder) && n == 0 {
		t.Error("no file is open")
	}
	for openBelow(t, folder) > 0 { // until the test times out
	}
}

// Files are opened again once a second, however often their names were locked before.
func TestOpenFilesStayOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: fileio.SyncNone})
		for range 50 {
			enginetest.Put(t, s, "x", []byte("some"))
			read(t, s, "x")
			time.Sleep(10 * time.Millisecond)
		}
		enginetest.Put(t, s, "y", []byte("old"))
		at, err := filepath.Glob(filepath.Join(folder, "*", "y"))
		if err != nil || len(at) != 1 {
			t.Fatalf("%q, %v", at, err)
		}
		seen := map[string]bool{}
		for n := range 100 { // another program replaces the file
			if err := errors.Join(os.WriteFile(at[0]+"~", []byte(strconv.Itoa(n)), 0o600), os.Rename(at[0]+"~", at[0])); err != nil {
				t.Fatal(err)
			}
			seen[string(read(t, s, "y"))] = true
			time.Sleep(10 * time.Millisecond)
		}
		if reportsCached(t, folder) && len(seen) > 3 {
			t.Errorf("the file was opened %d times within a second", len(seen))
		}
	})
}

// openBelow counts this process's open files, without folders, in the folders of a store.
func openBelow(t *testing.T, folder string) (n int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		at, _ := os.Readlink(filepath.Join("/proc/self/fd", e.Name())) // it may be closed by now
		if rest, ok := strings.CutPrefix(at, folder+"/"); ok && strings.Contains(rest, "/") {
			n++
		}
	}
	return n
}
