package cached_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
	"muster/files/cached"
)

// origin counts the requests to a store.
type origin struct {
	*fileio.Store
	gets, stats atomic.Int64

	asked chan struct{} // gets an element for each Stat; nil = none
	wait  chan struct{} // closed when Get may go on; nil = at once
}

func (o *origin) Get(ctx context.Context, name string) (*fileio.File, error) {
	o.gets.Add(1)
	if o.wait != nil {
		<-o.wait
	}
	return o.Store.Get(ctx, name)
}

func (o *origin) Stat(ctx context.Context, name string) (fileio.Info, error) {
	o.stats.Add(1)
	if o.asked != nil {
		o.asked <- struct{}{}
	}
	return o.Store.Stat(ctx, name)
}

func (o *origin) wants(t *testing.T, gets, stats int64) {
	t.Helper()
	if g, s := o.gets.Swap(0), o.stats.Swap(0); g != gets || s != stats {
		t.Errorf("%d gets and %d stats, want %d and %d", g, s, gets, stats)
	}
}

// open opens a store with copies. Its test closes the stores below it.
func open(t *testing.T, capacity int64) (*cached.Store, *origin) {
	t.Helper()
	of := &origin{Store: enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})}
	copies := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone, Capacity: capacity, Evict: []string{cached.Folder}})
	return cached.New(of, "x", copies), of
}

func TestStore(t *testing.T) {
	enginetest.RunStore(t, func(t *testing.T) enginetest.Store {
		s, _ := open(t, 100<<20)
		return s
	})
}

// A copy is used as long as the file has the same content.
func TestCopies(t *testing.T) {
	s, of := open(t, 1<<20)
	info := enginetest.Put(t, s, "a", []byte("first"))
	of.stats.Store(0)
	for range 3 {
		enginetest.CheckContent(t, s, "a", []byte("first"))
	}
	of.wants(t, 1, 3)
	if f, err := s.Get(t.Context(), "a"); err != nil || f.Info != info {
		t.Error(f, err)
	} else {
		f.Close()
	}
	of.wants(t, 0, 1)
	enginetest.Put(t, of.Store, "a", []byte("other")) // by somebody else
	enginetest.CheckContent(t, s, "a", []byte("other"))
	of.wants(t, 1, 1)
	if err := s.Delete(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A file named by its content needs no request. A wrong content gets no copy.
func TestContentNames(t *testing.T) {
	s, of := open(t, 1<<20)
	data := enginetest.Content(1, 300_000)
	sum := sha256.Sum256(data)
	name := "main/cas/" + hex.EncodeToString(sum[:])
	enginetest.Put(t, s, name, data)
	for range 3 {
		enginetest.CheckContent(t, s, name, data)
	}
	of.wants(t, 1, 0)
	if err := s.Delete(t.Context(), name, nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	of.wants(t, 1, 0)
	enginetest.Put(t, s, name, data)
	enginetest.CheckContent(t, s, name, data)
	if err := of.Delete(t.Context(), name, nil); err != nil { // somebody else deletes it
		t.Error(err)
	}
	if err := s.Delete(t.Context(), name, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	of.wants(t, 2, 0)
	enginetest.Put(t, s, name, []byte("wrong"))
	enginetest.CheckContent(t, s, name, []byte("wrong"))
	enginetest.CheckContent(t, s, name, []byte("wrong"))
	of.wants(t, 4, 0)
}

// Concurrent readers of one file make one request, also if the first one leaves.
func TestReadersShare(t *testing.T) {
	s, of := open(t, 1<<20)
	enginetest.Put(t, s, "a", []byte("content"))
	of.asked, of.wait = make(chan struct{}), make(chan struct{})
	var readers sync.WaitGroup
	ctx, leave := context.WithCancel(t.Context())
	readers.Go(func() {
		if _, err := s.Get(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-of.asked
	leave()
	for range 20 {
		readers.Go(func() { enginetest.CheckContent(t, s, "a", []byte("content")) })
	}
	for range 20 {
		<-of.asked
	}
	close(of.wait)
	readers.Wait()
	if n := of.gets.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// Close ends what goes on for clients that have left, before it closes the stores.
func TestCloseEndsFetches(t *testing.T) {
	of := &hanging{Origin: enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone}), begun: make(chan struct{})}
	copies := enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})
	s := cached.New(unclosed{of}, "x", unclosed{copies})
	enginetest.Put(t, s, "a", []byte("content"))
	ctx, leave := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		if _, err := s.Get(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-of.begun
	leave()
	reader.Wait()
	if err := s.Close(); err != nil || !of.ended.Load() {
		t.Error("a request goes on", err)
	}
}

// hanging is a store that sends no file.
type hanging struct {
	cached.Origin
	begun chan struct{}
	ended atomic.Bool
}

func (h *hanging) Get(ctx context.Context, _ string) (*fileio.File, error) {
	close(h.begun)
	<-ctx.Done()
	h.ended.Store(true)
	return nil, ctx.Err()
}

// unclosed is a store that its test closes.
type unclosed struct{ cached.Origin }

func (unclosed) Close() error { return nil }

// The copies are bounded. A file that is larger than the bound is read without a copy.
func TestBound(t *testing.T) {
	const bound = 1 << 20
	s, of := open(t, bound)
	for i := range 8 {
		enginetest.Put(t, s, fmt.Sprint(i), enginetest.Content(i, 300_000))
		enginetest.CheckContent(t, s, fmt.Sprint(i), enginetest.Content(i, 300_000))
	}
	if stats := s.Stats(); stats.Kept > bound || stats.Evicted == 0 {
		t.Errorf("%+v", stats)
	}
	large := enginetest.Content(1, bound+1)
	enginetest.Put(t, s, "large", large)
	enginetest.CheckContent(t, s, "large", large)
	if f, err := s.Get(t.Context(), "large"); err != nil {
		t.Error(err)
	} else if err := errors.Join(f.CopyTo(t.Context(), &bytes.Buffer{}, 10, 20), f.Close()); err != nil {
		t.Error(err)
	}
	of.gets.Store(0)
	enginetest.CheckContent(t, s, "7", enginetest.Content(7, 300_000))
	if of.gets.Load() != 0 {
		t.Error("the newest copy is gone")
	}
}
