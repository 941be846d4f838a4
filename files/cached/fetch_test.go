package cached_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
	"muster/files/cached"
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

// A copy that nobody waits for any more is not made.
func TestLastReaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, of := open(t, 10<<20)
		data := enginetest.Content(1, 2*pieceSize)
		for _, name := range []string{"a", named(data)} {
			enginetest.Put(t, s, name, data)
			running := 0
			of.before = func(ctx context.Context, offset int64) error {
				if name == "a" || offset > 0 { // the second one is cut in its second piece
					running++
					<-ctx.Done()
					running--
				}
				return ctx.Err()
			}
			ctx, leave := context.WithCancel(t.Context())
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					if _, err := enginetest.Get(ctx, s, name); !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			if running != 1 {
				t.Errorf("%d requests", running)
			}
			leave()
			synctest.Wait()
			if n := of.opened.Load(); running != 0 || n != 0 {
				t.Errorf("%d requests go on, %d files are open", running, n)
			}
			readers.Wait()
			of.before = nil
			enginetest.CheckContent(t, s, name, data)
		}
	})
}

// Close ends the requests before it closes the stores.
func TestCloseEndsFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newOrigin(t)
		copies := openCopies(t, &direct.Engine{}, t.TempDir(), 1<<20)
		s := cached.New(unclosed{of}, unclosed{copies}, cached.Options{})
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

// unclosed is a store that its test closes.
type unclosed struct{ cached.Origin }

func (unclosed) Close() error { return nil }

// A copy that is being made while its file is deleted is not served afterwards.
func TestDeletedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of, goOn := newOrigin(t), make(chan struct{})
		s := cached.New(of, &late{openCopies(t, &direct.Engine{}, t.TempDir(), 1<<20), goOn}, cached.Options{})
		data := []byte("content")
		enginetest.Put(t, of.Origin, named(data), data)
		go func() { _, _ = enginetest.Get(t.Context(), s, named(data)) }()
		synctest.Wait()
		deleted := make(chan error, 1)
		go func() { deleted <- s.Delete(t.Context(), named(data), nil) }()
		synctest.Wait()
		close(goOn)
		if err := <-deleted; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if _, err := enginetest.Get(t.Context(), s, named(data)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a deleted file: %v", err)
		}
	})
}

// late writes files when it may go on, even if nobody waits for them.
type late struct {
	cached.Origin
	goOn chan struct{}
}

func (l *late) Put(ctx context.Context, name string, r io.Reader, size int64, want fileio.Condition) (fileio.Info, error) {
	<-l.goOn
	return l.Origin.Put(context.WithoutCancel(ctx), name, r, size, want)
}
