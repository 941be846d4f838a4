package cached_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files/cached"
	"muster/test/kits/enginetest"
)

// origin counts the requests to a store, and the files that are open.
type origin struct {
	cached.Origin
	gets, stats, bytes, opened atomic.Int64

	// before is called before a request for bytes from an offset on; nil = not called.
	before func(ctx context.Context, offset int64) error
}

func (o *origin) Get(ctx context.Context, name string) (*fileio.File, error) {
	o.gets.Add(1)
	if o.before != nil {
		if err := o.before(ctx, 0); err != nil {
			return nil, err
		}
	}
	f, err := o.Origin.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	o.opened.Add(1)
	return &fileio.File{Info: f.Info, Content: &countedContent{f, o}}, nil
}

// countedContent is the content of a file of an origin.
type countedContent struct {
	*fileio.File
	o *origin
}

func (c *countedContent) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if c.o.before != nil && offset > 0 {
		if err := c.o.before(ctx, offset); err != nil {
			return err
		}
	}
	c.o.bytes.Add(n)
	return c.File.CopyTo(ctx, w, offset, n)
}

func (c *countedContent) Close() error {
	c.o.opened.Add(-1)
	return c.File.Close()
}

func (o *origin) Stat(ctx context.Context, name string) (fileio.Info, error) {
	o.stats.Add(1)
	return o.Origin.Stat(ctx, name)
}

func (o *origin) wants(t *testing.T, gets, stats int64) {
	t.Helper()
	if g, s := o.gets.Swap(0), o.stats.Swap(0); g != gets || s != stats {
		t.Errorf("%d gets and %d stats, want %d and %d", g, s, gets, stats)
	}
}

// open opens a store with copies. Its test closes the stores below it.
func open(t testing.TB, max int64) (*cached.Store, *origin) {
	t.Helper()
	of := newOrigin(t)
	return cached.New(of, openCopies(t, &direct.Engine{}, t.TempDir(), max), cached.Options{Name: "x", Max: max}), of
}

func newOrigin(t testing.TB) *origin {
	return &origin{Origin: enginetest.Open(t, &direct.Engine{}, t.TempDir(), fileio.Options{Sync: fileio.SyncNone})}
}

func openCopies(t testing.TB, engine fileio.Engine, folder string, max int64) *fileio.Store {
	return enginetest.Open(t, engine, folder, fileio.Options{Sync: fileio.SyncNone, Capacity: max, Evict: []string{cached.Folder}})
}

// pieceSize is more than a store holds of a file in memory.
const pieceSize = 511 << 10

// named returns a file in cas/ with this content.
func named(data []byte) string {
	sum := sha256.Sum256(data)
	return "main/cas/" + hex.EncodeToString(sum[:])
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
	enginetest.Put(t, of.Origin, "a", []byte("other")) // by somebody else
	enginetest.CheckContent(t, s, "a", []byte("other"))
	of.wants(t, 1, 1)
	if err := s.Delete(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A file named by its content needs no request, however large it is.
func TestContentNames(t *testing.T) {
	s, of := open(t, 20<<20)
	for _, size := range []int{0, 1, 300_000, pieceSize, pieceSize + 1, 3*pieceSize + 5} {
		of.wants(t, of.gets.Load(), of.stats.Load())
		data := enginetest.Content(1, size)
		name := named(data)
		info := enginetest.Put(t, s, name, data)
		for range 3 {
			enginetest.CheckContent(t, s, name, data)
		}
		of.wants(t, 1, 0)
		if f, err := s.Get(t.Context(), name); err != nil || f.Tag != info.Tag || f.Size != info.Size || !f.Changed.Equal(info.Changed) {
			t.Errorf("%+v, %v; not %+v", f, err, info)
		} else {
			f.Close()
		}
		if err := s.Delete(t.Context(), name, nil); err != nil {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		of.wants(t, 1, 0)
		enginetest.Put(t, s, name, data)
		enginetest.CheckContent(t, s, name, data)
		of.wants(t, 1, 0)
		again := enginetest.Put(t, s, name, data)
		if f, err := s.Get(t.Context(), name); err != nil || f.Tag != again.Tag {
			t.Errorf("the tag is not that of the last PUT: %v", err)
		} else {
			f.Close()
		}
		if err := of.Delete(t.Context(), name, nil); err != nil { // somebody else deletes it
			t.Error(err)
		}
		if err := s.Delete(t.Context(), name, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if n := of.opened.Load(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	}
}

// A file that is not what its name states is treated like others.
func TestWrongContent(t *testing.T) {
	s, of := open(t, 20<<20)
	for i, size := range []int{5, 2*pieceSize + 5} {
		name := fmt.Sprint(i, "/", named([]byte("right")))
		enginetest.Put(t, s, name, enginetest.Content(1, size))
		for range 3 {
			enginetest.CheckContent(t, s, name, enginetest.Content(1, size))
		}
		of.wants(t, 1, 3)
		enginetest.Put(t, of.Origin, name, []byte("right"))
		for range 3 {
			enginetest.CheckContent(t, s, name, []byte("right"))
		}
		of.wants(t, 1, 1)
	}
}

// A reader of a large file does not wait for its copy, which is made after the first read of the whole file.
func TestLargeFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, of := open(t, 100<<20)
		const size = 16<<20 + 17
		data := enginetest.Content(1, size)
		for _, name := range []string{"a", named(data)} {
			enginetest.Put(t, s, name, data)
			f, err := s.Get(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			of.bytes.Store(0)
			var b bytes.Buffer
			if err := errors.Join(f.CopyTo(t.Context(), &b, size-1, 1), f.CopyTo(t.Context(), &b, 5, 1), f.Close()); err != nil || !bytes.Equal(b.Bytes(), []byte{data[size-1], data[5]}) {
				t.Errorf("%x, %v", b.Bytes(), err)
			}
			synctest.Wait()
			if n := of.bytes.Swap(0); n != 2 {
				t.Errorf("%d bytes were read for a part of 2", n)
			}
			enginetest.CheckContent(t, s, name, data)
			synctest.Wait()
			if n := of.bytes.Swap(0); n != 2*size {
				t.Errorf("%d bytes were read", n)
			}
			of.gets.Store(0)
			enginetest.CheckContent(t, s, name, data)
			if n := of.gets.Load(); n != 0 {
				t.Errorf("%d requests for a copy", n)
			}
		}
		if f := s.Figures(); f.Misses != 4 || f.Hits != 2 || f.HitBytes != 2*size {
			t.Errorf("%+v", f)
		}
	})
}

// The copies are bounded. A file that is too large has no copy.
func TestBound(t *testing.T) {
	const bound = 4 << 20
	s, of := open(t, bound)
	for i := range 40 {
		enginetest.Put(t, s, fmt.Sprint(i), enginetest.Content(i, 300_000))
		enginetest.CheckContent(t, s, fmt.Sprint(i), enginetest.Content(i, 300_000))
	}
	if stats := s.Stats(); stats.Kept > bound || stats.Evicted == 0 {
		t.Errorf("%+v", stats)
	}
	large := enginetest.Content(1, bound/4+1)
	enginetest.Put(t, s, "large", large)
	before := s.Stats()
	for range 3 {
		enginetest.CheckContent(t, s, "large", large)
	}
	if stats := s.Stats(); stats.EvictedBytes+stats.Kept-before.EvictedBytes-before.Kept != 0 {
		t.Errorf("%+v, before %+v", stats, before)
	}
	of.gets.Store(0)
	enginetest.CheckContent(t, s, "39", enginetest.Content(39, 300_000))
	if of.gets.Load() != 0 {
		t.Error("the newest copy is gone")
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
