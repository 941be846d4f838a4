package cached_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/files/cached"
	"muster/test/kits/enginetest"
)

// Concurrent readers of one file make one request, also if the one who began it leaves.
func TestReadersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, of := open(t, 1<<20)
		data := []byte("content")
		for _, name := range []string{"a", named(data)} {
			enginetest.Put(t, s, name, data)
			answer := make(chan struct{})
			of.before = func(ctx context.Context, _ int64) error {
				select {
				case <-answer:
				case <-ctx.Done():
				}
				return ctx.Err()
			}
			var readers sync.WaitGroup
			ctx, leave := context.WithCancel(t.Context())
			first := func(ctx context.Context) {
				if _, err := s.Get(ctx, name); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
			readers.Go(func() { first(ctx) })
			synctest.Wait()
			for range 20 {
				readers.Go(func() { enginetest.CheckContent(t, s, name, data) })
			}
			synctest.Wait()
			leave()
			synctest.Wait()
			close(answer)
			readers.Wait()
			if n := of.gets.Swap(0); n != 1 {
				t.Errorf("%d requests", n)
			}
		}
	})
}

// Close ends the requests before it closes the stores.
func TestCloseEndsFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newOrigin(t)
		copies := openCopies(t, &direct.Engine{}, t.TempDir(), 1<<20)
		s := cached.New(sharedStore{of}, sharedCopies{copies}, cached.Options{Max: 1 << 20})
		enginetest.Put(t, s, "a", []byte("content"))
		ended := false
		of.before = func(ctx context.Context, _ int64) error {
			<-ctx.Done()
			ended = true
			return ctx.Err()
		}
		go func() { _, _ = s.Get(t.Context(), "a") }()
		synctest.Wait()
		if err := s.Close(); err != nil || !ended {
			t.Error("a request goes on", err)
		}
		synctest.Wait()
	})
}

// sharedStore is a store that its test closes.
type sharedStore struct{ cached.Origin }

func (sharedStore) Close() error { return nil }

// sharedCopies are the same for copies.
type sharedCopies struct{ cached.Copies }

func (sharedCopies) Close() error { return nil }

// If a file changes while it is copied, that copy is not served, and waiting readers see no cancellation.
func TestChangedMeanwhile(t *testing.T) {
	for _, deletes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			of, goOn := newOrigin(t), make(chan struct{})
			s := cached.New(of, &lateStore{openCopies(t, &direct.Engine{}, t.TempDir(), 20<<20), goOn}, cached.Options{Max: 20 << 20})
			data := enginetest.Content(1, 2*pieceSize)
			enginetest.Put(t, of.Origin, named(data), data)
			of.before = func(ctx context.Context, _ int64) error { return ctx.Err() }
			read := make(chan error, 1)
			go func() {
				_, err := enginetest.Get(t.Context(), s, named(data))
				read <- err
			}()
			synctest.Wait()
			changed := make(chan error, 1)
			go func() {
				if deletes {
					changed <- s.Delete(t.Context(), named(data), nil)
					return
				}
				_, err := s.Put(t.Context(), named(data), bytes.NewReader(data), int64(len(data)), nil)
				changed <- err
			}()
			synctest.Wait()
			close(goOn)
			if err := <-changed; err != nil {
				t.Error(err)
			}
			if err := <-read; errors.Is(err, context.Canceled) {
				t.Errorf("a reader who has not left: %v", err)
			}
			if _, err := enginetest.Get(t.Context(), s, named(data)); errors.Is(err, fs.ErrNotExist) != deletes {
				t.Error(err)
			}
		})
	}
}

// A thousand changes of other files do not end a fetch, though files share counters.
func TestOthersChangedMeanwhile(t *testing.T) {
	s, of := open(t, 1<<20)
	data := []byte("content")
	enginetest.Put(t, of.Origin, named(data), data)
	of.before = func(ctx context.Context, _ int64) error {
		for i := range 1_000 {
			if err := s.Delete(ctx, named(fmt.Append(nil, i)), nil); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	}
	enginetest.CheckContent(t, s, named(data), data)
	if n := of.gets.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// lateStore writes files when it may go on, even if nobody waits for them.
type lateStore struct {
	cached.Copies
	goOn chan struct{}
}

func (l *lateStore) Put(ctx context.Context, name string, r io.Reader, size int64, want fileio.Condition) (fileio.Info, error) {
	<-l.goOn
	return l.Copies.Put(context.WithoutCancel(ctx), name, r, size, want)
}
