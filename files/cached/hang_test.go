package cached_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
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

// streams is an origin whose files have one request each, which ends with the context of the first
// call, as the answers of a bucket do.
type streams struct {
	cached.Origin
	hangs  func(offset int64) bool
	opened atomic.Int64
}

func (s *streams) Get(ctx context.Context, name string) (*fileio.File, error) {
	f, err := s.Origin.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	s.opened.Add(1)
	return &fileio.File{Info: f.Info, Content: &streamContent{f, s, ctx}}, nil
}

type streamContent struct {
	*fileio.File
	of  *streams
	ctx context.Context
}

func (c *streamContent) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if c.of.hangs(offset + n - 1) {
		<-c.ctx.Done()
		return c.ctx.Err()
	}
	return c.File.CopyTo(ctx, w, offset, n)
}

func (c *streamContent) Close() error {
	c.of.opened.Add(-1)
	return c.File.Close()
}

// A reader who leaves ends the transfer at once, in whichever piece, with copies or without.
func TestReaderLeavesStream(t *testing.T) {
	for _, max := range []int64{20 << 20, 0} {
		synctest.Test(t, func(t *testing.T) {
			of := &streams{Origin: newOrigin(t)}
			s := cached.New(of, openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20), cached.Options{Max: max})
			data := enginetest.Content(1, 3*pieceSize)
			for _, name := range []string{"a", named(data)} {
				for piece := range int64(3) {
					enginetest.Put(t, s, name, data)
					hangs := true
					of.hangs = func(offset int64) bool { return hangs && offset/pieceSize >= piece }
					ctx, leave := context.WithCancel(t.Context())
					ended := false
					go func() {
						if _, err := enginetest.Get(ctx, s, name); !errors.Is(err, context.Canceled) {
							t.Error(err)
						}
						ended = true
					}()
					synctest.Wait()
					leave()
					synctest.Wait()
					if n := of.opened.Load(); !ended || n != 0 {
						t.Errorf("%s, piece %d: the reader has ended: %t, %d files are open", name, piece, ended, n)
					}
					hangs = false
					enginetest.CheckContent(t, s, name, data)
					enginetest.Put(t, s, name, data[:100]) // else the next round finds copies
				}
			}
		})
	}
}

// hangingDisk is a disk whose jobs wait while it hangs.
type hangingDisk struct{ waits atomic.Pointer[chan struct{}] }

func (h *hangingDisk) hang() { c := make(chan struct{}); h.waits.Store(&c) }
func (h *hangingDisk) goOn() { close(*h.waits.Swap(nil)) }
func (h *hangingDisk) stall(*fileio.Job) {
	if c := h.waits.Load(); c != nil {
		<-*c
	}
}

// If the disk of the copies hangs, files come from the origin after a few seconds, and then without a
// delay. When the disk answers again, copies are used again.
func TestHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, disk := newOrigin(t), &hangingDisk{}
		log, text := logged()
		engine := faulty.New(&direct.Engine{}, faulty.Options{Stall: disk.stall})
		copies := enginetest.Open(t, engine, t.TempDir(), fileio.Options{
			Sync: fileio.SyncNone, Capacity: 20 << 20, Evict: []string{cached.Folder}, JobsOnly: true, WaitMax: 30 * time.Second,
		})
		s := cached.New(of, copies, cached.Options{Max: 20 << 20, Log: log})
		contents := map[string][]byte{}
		for i, size := range []int{0, 1000, 700_000, 1_500_000} {
			data := enginetest.Content(i, size)
			contents[named(data)], contents[fmt.Sprint("n/", i)] = data, data
		}
		for name, data := range contents {
			enginetest.Put(t, of.Origin, name, data)
		}
		for _, warm := range []bool{false, true, true} {
			if warm {
				for name, data := range contents {
					enginetest.CheckContent(t, s, name, data)
				}
			}
			disk.hang()
			begun := time.Now()
			var users sync.WaitGroup
			for name, data := range contents {
				for range 5 {
					users.Go(func() { enginetest.CheckContent(t, s, name, data) })
				}
			}
			gone, added := named([]byte("gone")), named([]byte("added"))
			enginetest.Put(t, of.Origin, gone, []byte("gone"))
			users.Go(func() {
				if err := s.Delete(t.Context(), gone, nil); err != nil {
					t.Error(err)
				}
				if _, err := enginetest.Get(t.Context(), s, gone); !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
				enginetest.Put(t, s, added, []byte("added"))
			})
			users.Wait()
			if waited := time.Since(begun); waited > 10*time.Second {
				t.Errorf("users waited for %v", waited)
			}
			begun = time.Now()
			of.stats.Store(0)
			for name, data := range contents {
				enginetest.CheckContent(t, s, name, data)
			}
			enginetest.CheckContent(t, s, added, []byte("added"))
			if waited := time.Since(begun); waited > 0 {
				t.Errorf("later users waited for %v", waited)
			}
			if n := of.stats.Load(); n > 0 {
				t.Errorf("%d requests for files that are not looked up", n)
			}
			disk.goOn()
			synctest.Wait()
			time.Sleep(time.Minute)
			for range 2 {
				of.gets.Store(0)
				for name, data := range contents {
					enginetest.CheckContent(t, s, name, data)
				}
			}
			of.wants(t, 0, of.stats.Load())
		}
		if !bytes.Contains(text.Bytes(), []byte("does not answer")) {
			t.Errorf("no warning: %s", text)
		}
		if n := of.opened.Load(); n > 0 {
			t.Errorf("%d files are open", n)
		}
	})
}

// A copy that is written late, after its file was deleted, is not served.
func TestDeletedWhileDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, disk := newOrigin(t), &hangingDisk{}
		engine := faulty.New(&direct.Engine{}, faulty.Options{Stall: func(j *fileio.Job) {
			if j.Op == fileio.OpPut || j.Op == fileio.OpCommit {
				disk.stall(j)
			}
		}})
		s := cached.New(of, openCopies(t, engine, t.TempDir(), 20<<20), cached.Options{Max: 20 << 20})
		data := []byte("content")
		enginetest.Put(t, of.Origin, named(data), data)
		disk.hang()
		enginetest.CheckContent(t, s, named(data), data)
		if err := s.Delete(t.Context(), named(data), nil); err != nil {
			t.Error(err)
		}
		for range 2 {
			if _, err := enginetest.Get(t.Context(), s, named(data)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a deleted file: %v", err)
			}
			if disk.waits.Load() != nil {
				disk.goOn()
			}
			synctest.Wait()
			time.Sleep(time.Minute)
		}
	})
}

// Close waits for a disk that hangs, because its last operation must not end in a closed folder.
func TestCloseWaitsForDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, disk := newOrigin(t), &hangingDisk{}
		engine := faulty.New(&direct.Engine{}, faulty.Options{Stall: disk.stall})
		s := cached.New(sharedStore{of}, sharedCopies{openCopies(t, engine, t.TempDir(), 20<<20)}, cached.Options{})
		enginetest.Put(t, of.Origin, "a", []byte("content"))
		disk.hang()
		enginetest.CheckContent(t, s, "a", []byte("content"))
		closed := false
		go func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("Close did not wait")
		}
		disk.goOn()
		synctest.Wait()
		if !closed {
			t.Error("Close waits")
		}
	})
}

// An origin that is slow is no disk that hangs.
func TestSlowOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := &streams{Origin: newOrigin(t)}
		of.hangs = func(int64) bool {
			time.Sleep(time.Minute)
			return false
		}
		log, text := logged()
		s := cached.New(of, openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20), cached.Options{Log: log})
		for _, name := range []string{"a", named([]byte("content"))} {
			enginetest.Put(t, of.Origin, name, []byte("content"))
			enginetest.CheckContent(t, s, name, []byte("content"))
			begun := time.Now()
			enginetest.CheckContent(t, s, name, []byte("content"))
			if time.Since(begun) > 0 || text.Len() > 0 {
				t.Errorf("no copy was made: %s", text)
			}
		}
	})
}

// Copies that stayed delay the end of the process only for a few seconds, however slow the disk is, and one
// that cannot be removed keeps no other.
func TestCloseWithSlowDisk(t *testing.T) {
	for _, takes := range []time.Duration{time.Second, 0} {
		synctest.Test(t, func(t *testing.T) {
			of, copies := newOrigin(t), &deletes{Copies: openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20)}
			s := cached.New(sharedStore{of}, sharedCopies{copies}, cached.Options{})
			copies.delete = func(context.Context, string) error { return syscall.EIO }
			for i := range 20 {
				if err := s.Delete(t.Context(), named([]byte{byte(i)}), nil); !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
			first, tried := "", map[string]bool{}
			copies.delete = func(_ context.Context, name string) error {
				first = cmp.Or(first, name)
				tried[name] = true
				time.Sleep(takes)
				if name == first {
					return syscall.EIO
				}
				return nil
			}
			begun := time.Now()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > 5*time.Second || takes == 0 && len(tried) != 20 {
				t.Errorf("%d of 20 copies were tried in %v", len(tried), took)
			}
		})
	}
}

// deletes has another Delete.
type deletes struct {
	cached.Copies
	delete func(ctx context.Context, name string) error
}

func (d *deletes) Delete(ctx context.Context, name string, _ fileio.Condition) error {
	return d.delete(ctx, name)
}

// A removal that ends late does not hide that a later one failed.
func TestRemovalEndsLate(t *testing.T) {
	of, disk := newOrigin(t), openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20)
	copies := &deletes{Copies: disk}
	removes := func(ctx context.Context, name string) error { return disk.Delete(ctx, name, nil) }
	fails := func(context.Context, string) error { return syscall.EIO }
	s := cached.New(of, copies, cached.Options{})
	name := named([]byte("content"))
	create := func() {
		enginetest.Put(t, s, name, []byte("content"))
		enginetest.CheckContent(t, s, name, []byte("content"))
	}
	remove := func() {
		if err := s.Delete(t.Context(), name, nil); err != nil {
			t.Error(err)
		}
	}
	copies.delete = removes
	create()
	copies.delete = fails
	remove()
	removed, goOn := make(chan struct{}), make(chan struct{})
	copies.delete = func(ctx context.Context, name string) error {
		err := disk.Delete(ctx, name, nil)
		close(removed)
		<-goOn
		return err
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		if _, err := enginetest.Get(t.Context(), s, name); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	<-removed
	copies.delete = removes
	create()
	copies.delete = fails
	remove()
	close(goOn)
	reader.Wait()
	if _, err := enginetest.Get(t.Context(), s, name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted file: %v", err)
	}
}

// If more copies stay than are remembered, none is served unasked, even after some were removed.
func TestManyCopiesStay(t *testing.T) {
	of, disk := newOrigin(t), openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20)
	copies := &deletes{Copies: disk, delete: func(ctx context.Context, name string) error { return disk.Delete(ctx, name, nil) }}
	s := cached.New(of, copies, cached.Options{})
	last := named([]byte("content"))
	enginetest.Put(t, s, last, []byte("content"))
	enginetest.CheckContent(t, s, last, []byte("content"))
	other := func(i int) string { return named(fmt.Append(nil, i)) }
	copies.delete = func(context.Context, string) error { return syscall.EIO }
	for i := range 16<<10 + 1 {
		_ = s.Delete(t.Context(), other(i), nil) // it does not exist
	}
	if err := s.Delete(t.Context(), last, nil); err != nil {
		t.Error(err)
	}
	copies.delete = func(context.Context, string) error { return nil }
	for i := range 100 {
		_ = s.Delete(t.Context(), other(i), nil)
	}
	if _, err := enginetest.Get(t.Context(), s, last); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deleted file: %v", err)
	}
}
