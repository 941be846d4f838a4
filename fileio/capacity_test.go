package fileio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/pooled"
	"muster/test/kits/enginetest"
)

const block = 4 << 10

// A cappedStore has room for some blocks. Files below cache/ may be evicted.
type cappedStore struct {
	*fileio.Store
	close func()
}

func openCapacity(t *testing.T, folder string, durability fileio.Sync, blocks int64) cappedStore {
	t.Helper()
	e, err := pooled.New(pooled.Options{Threads: 4, Light: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := fileio.Open(folder, e, fileio.Options{Sync: durability, Capacity: blocks * block, Evict: []string{"cache/"}})
	if err != nil {
		t.Fatal(errors.Join(err, e.Close()))
	}
	c := cappedStore{s, sync.OnceFunc(func() {
		if err := errors.Join(s.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})}
	t.Cleanup(c.close)
	return c
}

// has requires exactly these files.
func has(t *testing.T, s cappedStore, want string) {
	t.Helper()
	infos, _, err := s.List(t.Context(), "", "", fileio.ListMax)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the store has %s, not %s", got, want)
	}
}

// Only files below the prefixes are evicted, first those that were not used for longest. What a
// use is: a put, a get, a stat, and a put that finds its file here. A list is none.
func TestEviction(t *testing.T) {
	for name, durability := range enginetest.Durabilities() {
		t.Run(name, func(t *testing.T) {
			s := openCapacity(t, t.TempDir(), durability, 6)
			put := func(name string, size int) error {
				_, err := s.Put(t.Context(), name, bytes.NewReader(make([]byte, size)), int64(size), nil)
				return err
			}
			for _, name := range []string{"cache/1", "cache/2", "cache/3", "golden", "cache/4", "cache/5"} {
				if err := put(name, 100); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := enginetest.Get(t.Context(), s.Store, "cache/1"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Stat(t.Context(), "cache/2"); err != nil {
				t.Fatal(err)
			}
			absent := func(now *fileio.Info) bool { return now == nil }
			if _, err := s.Put(t.Context(), "cache/3", strings.NewReader("x"), 1, absent); !errors.Is(err, fileio.ErrChanged) {
				t.Fatal(err)
			}
			has(t, s, "cache/1 cache/2 cache/3 cache/4 cache/5 golden")
			if err := put("cache/6", block+1); err != nil {
				t.Fatal(err)
			}
			has(t, s, "cache/1 cache/2 cache/3 cache/6 golden")
			if err := put("golden", 1); err != nil { // a replacement needs room for both
				t.Fatal(err)
			}
			has(t, s, "cache/2 cache/3 cache/6 golden")
			for _, name := range []string{"a", "b", "c", "d"} {
				if err := put(name, block); err != nil {
					t.Fatal(err)
				}
			}
			has(t, s, "a b c d golden")
			if err := put("e", block); err != nil {
				t.Fatal(err)
			}
			if err := put("f", 1); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("a full store: %v", err)
			}
			if err := put("cache/7", 1); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("a full store: %v", err)
			}
			if _, err := s.Put(t.Context(), "e", strings.NewReader("x"), 1, absent); !errors.Is(err, fileio.ErrChanged) {
				t.Errorf("a file that a full store has already: %v", err)
			}
			if st := s.Stats(); st.Kept != 6*block || st.Evicted != 6 || st.EvictedBytes != 7*block {
				t.Errorf("%+v", st)
			}
			if err := s.Delete(t.Context(), "a", nil); err != nil {
				t.Fatal(err)
			}
			if err := put("cache/7", 1); err != nil {
				t.Error(err)
			}
			has(t, s, "b c cache/7 d e golden")
		})
	}
}

// countingReader counts what was read.
// deletingEngine waits before it deletes a file.
type deletingEngine struct {
	fileio.Engine
	deleting, proceed chan struct{}
}

func (e *deletingEngine) Do(j *fileio.Job) error {
	if j.Op == fileio.OpDelete {
		select {
		case e.deleting <- struct{}{}:
		default:
		}
		<-e.proceed
	}
	return e.Engine.Do(j)
}

// A file that gives way is gone before it is deleted: a client that found it would count on it.
func TestGivesWayAtOnce(t *testing.T) {
	e := &deletingEngine{&direct.Engine{}, make(chan struct{}, 1), make(chan struct{})}
	s := enginetest.Open(t, e, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, Capacity: 3 * block, Evict: []string{"cache/"}})
	enginetest.Put(t, s, "cache/1", []byte("1"))
	enginetest.Put(t, s, "cache/2", []byte("2"))
	ended := make(chan error, 1)
	go func() {
		data := make([]byte, 2*block)
		_, err := s.Put(context.Background(), "large", bytes.NewReader(data), int64(len(data)), nil)
		ended <- err
	}()
	<-e.deleting
	proceed := sync.OnceFunc(func() { close(e.proceed) })
	defer proceed()
	if _, err := s.Stat(t.Context(), "cache/1"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := s.Stat(t.Context(), "cache/2"); err != nil {
		t.Error(err)
	}
	present := func(now *fileio.Info) bool { return now != nil }
	if _, err := s.Put(t.Context(), "cache/1", strings.NewReader("x"), 1, present); !errors.Is(err, fileio.ErrChanged) {
		t.Error(err)
	}
	proceed()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

type countingReader struct {
	io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// A file that cannot fit is refused before it is read. One of unknown size is refused when it no
// longer fits, and gives its room back. Neither leaves anything on the disk.
func TestFilesThatDoNotFit(t *testing.T) {
	folder := t.TempDir()
	s := openCapacity(t, folder, fileio.SyncNone, 600) // more than one piece
	enginetest.Put(t, s.Store, "golden", make([]byte, 100*block))
	for i := range 50 {
		enginetest.Put(t, s.Store, fmt.Sprintf("cache/%02d", i), make([]byte, 8*block))
	}
	kept := s.Stats().Kept
	for _, size := range []int64{501 * block, -1} {
		r := &countingReader{Reader: io.LimitReader(zeros{}, 1<<30)}
		if _, err := s.Put(t.Context(), "large", r, size, nil); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("size %d: %v", size, err)
		}
		if size > 0 && (r.n > 0 || s.Stats().Kept != kept) || r.n > 2<<20 {
			t.Errorf("size %d: %d bytes were read, and %d are kept", size, r.n, s.Stats().Kept)
		}
	}
	if st := s.Stats(); st.Kept != 212*block || st.Evicted != 36 {
		t.Errorf("%+v", st)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*", "~*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
	enginetest.Put(t, s.Store, "large", make([]byte, 500*block))
	enginetest.CheckContent(t, s.Store, "golden", make([]byte, 100*block))
}

// A put with a condition never evicts the file that the condition is about. A put without one may.
func TestConditionKeepsFile(t *testing.T) {
	s := openCapacity(t, t.TempDir(), fileio.SyncNone, 5)
	enginetest.Put(t, s.Store, "cache/a", make([]byte, 3*block))
	enginetest.Put(t, s.Store, "cache/b", make([]byte, block))
	same := func(now *fileio.Info) bool { return now != nil }
	if _, err := s.Put(t.Context(), "cache/a", bytes.NewReader(make([]byte, 2*block)), 2*block, same); err != nil {
		t.Error(err)
	}
	has(t, s, "cache/a")
	for _, size := range []int64{4 * block, -1} {
		if _, err := s.Put(t.Context(), "cache/a", bytes.NewReader(make([]byte, 4*block)), size, same); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("size %d: %v", size, err)
		}
		has(t, s, "cache/a")
	}
	enginetest.Put(t, s.Store, "cache/a", make([]byte, 4*block))
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A restart knows the sizes, and which files were used last, although a use writes no file.
func TestRestartKnowsUses(t *testing.T) {
	folder := t.TempDir()
	s := openCapacity(t, folder, fileio.SyncGroup, 10)
	for i := range 4 {
		enginetest.Put(t, s.Store, fmt.Sprintf("cache/%d", i), make([]byte, 2*block))
	}
	s.close()
	// all are old, and the first ones are the oldest
	paths, err := filepath.Glob(filepath.Join(folder, "*", "cache*"))
	if err != nil || len(paths) != 4 {
		t.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		at := time.Now().Add(-24*time.Hour + time.Duration(path[len(path)-1])*time.Minute)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s = openCapacity(t, folder, fileio.SyncGroup, 10)
	before, err := s.Stat(t.Context(), "cache/0")
	if err != nil {
		t.Fatal(err)
	}
	s.close() // waits for what is recorded
	s = openCapacity(t, folder, fileio.SyncGroup, 10)
	enginetest.Put(t, s.Store, "new", make([]byte, 4*block))
	has(t, s, "cache/0 cache/2 cache/3 new")
	if after, err := s.Stat(t.Context(), "cache/0"); err != nil || after.Tag != before.Tag || !after.Changed.Equal(before.Changed) {
		t.Errorf("a use has changed the file: %+v, %+v, %v", before, after, err)
	}
	s.close()
	// A smaller capacity evicts at the start, and one for less than what is never evicted is refused.
	s = openCapacity(t, folder, fileio.SyncGroup, 7)
	has(t, s, "cache/0 new")
	s.close()
	e, err := pooled.New(pooled.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := fileio.Open(folder, e, fileio.Options{Capacity: 3 * block, Evict: []string{"cache/"}}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a store with more than its capacity: %v", err)
	}
}

// Many clients put, get and delete at the same time. Nothing that is never evicted is lost, no
// get has a part of a file, and at the end the store knows what is on the disk.
func TestEvictionByMany(t *testing.T) {
	for name, durability := range enginetest.Durabilities() {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			const blocks = 800 // all that is written at a time fits beside what is never evicted
			s := openCapacity(t, folder, durability, blocks)
			const clients, rounds = 8, 120
			var all sync.WaitGroup
			for who := range clients {
				all.Go(func() {
					random := rand.New(rand.NewPCG(uint64(who), 1))
					golden := fmt.Sprintf("golden/%d", who)
					for n := range rounds {
						size := 1 + random.IntN(16*block)
						if n%20 == 0 {
							size = 300_000 + n
						}
						name := fmt.Sprintf("cache/%d", random.IntN(150))
						if n%2 == 0 {
							name = "cache/wanted by all"
						}
						switch random.IntN(4) {
						case 0:
							data, err := enginetest.Get(t.Context(), s.Store, name)
							if err == nil && bytes.Count(data, data[:1]) != len(data) {
								t.Errorf("%s is mixed", name)
							}
							if err != nil && !errors.Is(err, fs.ErrNotExist) {
								t.Error(err)
							}
						case 1:
							if err := s.Delete(t.Context(), name, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
								t.Error(err)
							}
						default:
							data := bytes.Repeat([]byte{byte(who*rounds + n)}, size)
							if _, err := s.Put(t.Context(), name, bytes.NewReader(data), int64(size), nil); err != nil {
								t.Error(err)
							}
						}
						if n%10 == 0 {
							data := enginetest.Content(who, 3*block)
							if _, err := s.Put(t.Context(), golden, bytes.NewReader(data), int64(len(data)), nil); err != nil {
								t.Error(err)
							}
						}
						if kept := s.Stats().Kept; kept > blocks*block {
							t.Errorf("%d bytes are kept", kept)
						}
					}
				})
			}
			all.Wait()
			for who := range clients {
				enginetest.CheckContent(t, s.Store, fmt.Sprintf("golden/%d", who), enginetest.Content(who, 3*block))
			}
			st := s.Stats()
			s.close()
			if st.Evicted == 0 {
				t.Error("nothing was evicted")
			}
			s = openCapacity(t, folder, durability, blocks)
			if again := s.Stats(); again.Kept != st.Kept || again.Evicted != 0 {
				t.Errorf("%d bytes are on the disk, and the store counted %d", again.Kept, st.Kept)
			}
		})
	}
}
