package fileio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
	"muster/fileio/faulty"
)

// The index has what the disk has, whatever was put and deleted at the same time, and
// whatever failed: a store that is opened afterwards has the same list.
func TestListIsWhatIsThere(t *testing.T) {
	for durability, sync := range enginetest.Durabilities() {
		for seed := range uint64(20) {
			folder := t.TempDir()
			engine := faulty.New(&direct.Engine{}, faulty.Options{Seed: seed})
			s, err := fileio.Open(folder, engine, fileio.Options{Sync: sync})
			if err != nil {
				t.Fatal(err)
			}
			engine.Break(seed, 4, 0)
			disturb(t, s, seed)
			engine.Break(seed, 0, 0)
			kept := names(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if found := names(t, enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: sync})); !slices.Equal(kept, found) {
				t.Fatalf("%s, seed %d: the list has %q, and the disk %q", durability, seed, kept, found)
			}
		}
	}
}

// disturb puts and deletes files of a few names, many at a time.
func disturb(t *testing.T, s *fileio.Store, seed uint64) {
	var all sync.WaitGroup
	for worker := range uint64(8) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, worker))
			for range 30 {
				name := string(rune('a' + random.IntN(5)))
				var want fileio.Condition
				if random.IntN(2) == 0 {
					want = func(now *fileio.Info) bool { return (now == nil) == (random.IntN(2) == 0) }
				}
				if random.IntN(2) == 0 {
					_ = s.Delete(t.Context(), name, want)
				} else {
					_, _ = s.Put(t.Context(), name, bytes.NewReader(make([]byte, random.IntN(2)*300_000)), -1, want)
				}
			}
		})
	}
	all.Wait()
}

// lateFailure is an engine whose flush of a folder fails: files have their names by then.
type lateFailure struct{ direct.Engine }

func (e *lateFailure) Do(ctx context.Context, j *fileio.Job) error {
	err := e.Engine.Do(ctx, j)
	if err == nil && (j.Op == fileio.OpPut || j.Op == fileio.OpCommit) {
		return syscall.EIO
	}
	return err
}

// A file that is there after an error is in the list, too.
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

// names lists all files, two at a time.
func names(t *testing.T, s *fileio.Store) (list []string) {
	t.Helper()
	for more, after := true, ""; more; {
		var infos []fileio.Info
		var err error
		if infos, more, err = s.List(t.Context(), "", after, 2); err != nil {
			t.Fatal(err)
		}
		for _, i := range infos {
			list, after = append(list, i.Name), i.Name
		}
	}
	return list
}

// BenchmarkList is a page of 10 files, and of 1,000, of some number of files.
func BenchmarkList(b *testing.B) {
	for _, files := range []int{1_000, 10_000, 100_000} {
		s := enginetest.Open(b, &direct.Engine{}, b.TempDir(), fileio.Options{Sync: fileio.SyncNone})
		for i := range files {
			if _, err := s.Put(b.Context(), "team/"+strconv.Itoa(i), bytes.NewReader(nil), 0, nil); err != nil {
				b.Fatal(err)
			}
		}
		for _, most := range []int{10, fileio.ListMax} {
			b.Run(fmt.Sprintf("%d-of-%d", most, files), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if _, _, err := s.List(b.Context(), "team/", "team/"+strconv.Itoa(i*7919%files), most); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// What is no file, for somebody planted it, is not in a list, and does not end it.
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
