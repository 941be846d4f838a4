package fileio_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/test/kits/enginetest"
	"muster/test/kits/faulty"
)

// A file that is put and deleted concurrently, and exists in the end, is in the list. Some
// jobs fail.
func TestListBesideDeletions(t *testing.T) {
	for durability, sync := range enginetest.Durabilities() {
		disk := faulty.New(&slowEngine{}, faulty.Options{})
		s := enginetest.Open(t, disk, t.TempDir(), fileio.Options{Sync: sync})
		disk.Break(1, 8, 0)
		for round := range 200 {
			together(
				func() { _, _ = s.Put(t.Context(), "a", bytes.NewReader(make([]byte, round%2*300_000)), -1, nil) },
				func() { _ = s.Delete(t.Context(), "a", nil) },
				func() { _ = s.Delete(t.Context(), "a", func(now *fileio.Info) bool { return now != nil }) },
			)
			var want []string
			for err := error(syscall.EIO); errors.Is(err, syscall.EIO); {
				if _, err = s.Stat(t.Context(), "a"); err == nil {
					want = []string{"a"}
				}
			}
			if got := names(t, s); !slices.Equal(got, want) {
				t.Fatalf("%s, round %d: the list has %q, and the disk %q", durability, round, got, want)
			}
		}
		disk.Break(1, 0, 0)
	}
}

func together(calls ...func()) {
	var all sync.WaitGroup
	for _, call := range calls {
		all.Go(call)
	}
	all.Wait()
}

// slowEngine is an engine that returns some time after a job is done, so that other calls come
// in between.
type slowEngine struct{ direct.Engine }

func (e *slowEngine) Do(j *fileio.Job) error {
	err := e.Engine.Do(j)
	for range rand.IntN(50) {
		runtime.Gosched()
	}
	return err
}

// lateFailure is an engine whose folder flush fails, after the files have their names.
type lateFailure struct{ direct.Engine }

func (e *lateFailure) Do(j *fileio.Job) error {
	err := e.Engine.Do(j)
	if err == nil && (j.Op == fileio.OpPut || j.Op == fileio.OpCommit) {
		return syscall.EIO
	}
	return err
}

// A file that exists after an error is in the list.
func TestListAfterLateFailure(t *testing.T) {
	for durability, sync := range enginetest.Durabilities() {
		s := enginetest.Open(t, &lateFailure{}, t.TempDir(), fileio.Options{Sync: sync})
		if _, err := s.Put(t.Context(), "a", bytes.NewReader(nil), 0, nil); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if got := names(t, s); !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: %q", durability, got)
		}
	}
}

// names lists all files, two at a time, and retries when the disk fails.
func names(t *testing.T, s *fileio.Store) (list []string) {
	t.Helper()
	for more, after := true, ""; more; {
		infos, further, err := s.List(t.Context(), "", after, 2)
		if errors.Is(err, syscall.EIO) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range infos {
			list, after = append(list, i.Name), i.Name
		}
		more = further
	}
	return list
}

// A list leaves out planted entries that are not files, and continues.
func TestListPassesOverWhatIsPlanted(t *testing.T) {
	folder := t.TempDir()
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: fileio.SyncNone})
	for _, name := range []string{"a", "b", "c"} {
		enginetest.Put(t, s, name, []byte("x"))
	}
	found, err := filepath.Glob(filepath.Join(folder, "??", "[ab]"))
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	for _, path := range found {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", path); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{1, 10} {
		infos, more, err := s.List(t.Context(), "", "", most)
		if err != nil || more || len(infos) != 1 || infos[0].Name != "c" {
			t.Errorf("%d at a time: %+v, %v, %v", most, infos, more, err)
		}
	}
}
