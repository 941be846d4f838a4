package cached

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"muster/fileio"
	"muster/internal/wording"
)

const (
	// waitedMax is the size of the largest file whose readers wait for its copy. Larger files are copied
	// after a read of the whole file, so that no reader waits for their last byte.
	waitedMax = 16 << 20

	// laterMax is how many large files are copied at the same time.
	laterMax = 2
)

var (
	// errAgain is the error of a fetch that has ended because the file has changed.
	errAgain = errors.New("the file was changed")
	// errNoCopy is the error of a fetch if the file is too large for its readers to wait, or the copy cannot be kept.
	errNoCopy = errors.New("no copy can be kept")
)

// share waits for the copy of a file with a tag. All readers who wait for it share one fetch, which does not end with
// a reader. An empty tag stands for any, because the name is the digest.
func (s *Store) share(ctx context.Context, name, tag string) error {
	done := make(chan error, 1)
	s.fetches.Go(func() {
		_, err, _ := s.shared.Do(name+"\n"+tag, func() (any, error) { return nil, s.fill(ctx, name, tag, min(waitedMax, s.max)) })
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetchLater starts the copy of a large file that was read, and does not wait for it. Others may copy it at the same
// time.
func (s *Store) fetchLater(ctx context.Context, name, tag string) {
	if s.isPaused() {
		return
	}
	select {
	case s.later <- struct{}{}:
	default:
		return
	}
	s.fetches.Go(func() {
		_ = s.fill(ctx, name, tag, s.max) // nobody waits for it
		<-s.later
	})
}

// fill makes the copy of a file of at most max bytes, unless one of an earlier process can be used.
func (s *Store) fill(ctx context.Context, name, tag string, max int64) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	changes := s.changesOf(name).Load()
	if s.verify(ctx, name, tag, max) {
		return nil
	}
	f, err := s.Origin.Get(ctx, name)
	if err != nil {
		return err
	}
	defer closeFile(f)
	switch {
	case tag != "" && tag != f.Tag:
		return errAgain
	case f.Size > max || len(f.Tag) > tagMax:
		return errNoCopy
	}
	err = s.write(ctx, f)
	if s.changesOf(name).Load() != changes {
		return cmp.Or(s.drop(ctx, name), errAgain)
	}
	return err
}

// pauseTime is how long no copies are made after a failure.
const pauseTime = time.Minute

// report pauses copying after a failure of the copies' store, and logs it. It is no failure if a
// copy does not fit because others are being made, or if too many operations wait.
func (s *Store) report(ctx context.Context, err error) {
	var errno syscall.Errno
	full := errors.Is(err, syscall.ENOSPC) && !errors.As(err, &errno)
	if err == nil || full || errors.Is(err, fileio.ErrBusy) || ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	warn := time.Now().After(s.paused)
	s.paused = time.Now().Add(pauseTime)
	s.mu.Unlock()
	if !warn {
		return
	}
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err // the copy's name is a digest
	}
	s.log.Warn("the cache cannot keep copies, so files are read from the object store: check the folder and disk of --cache", "reason", wording.Of(err))
}

// reportRead is like report, except that a missing copy is no failure.
func (s *Store) reportRead(ctx context.Context, err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		s.report(ctx, err)
	}
}

func (s *Store) isPaused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.paused)
}
