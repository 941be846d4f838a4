package cached

import (
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

// A fetch makes the copy of a file. All readers who wait for the copy share it.
type fetch struct {
	tag     string // of the file; "" = any, because its name is its digest
	max     int64  // larger files are not copied
	done    chan struct{}
	cancel  context.CancelFunc
	dropped bool // the file was changed meanwhile; guarded by the store's lock
	err     error
}

var (
	// errAgain is the error of a fetch that has ended because the file has changed.
	errAgain = errors.New("the file was changed")
	// errNoCopy is the error of a fetch if the file is too large for its readers to wait, or the copy cannot be kept.
	errNoCopy = errors.New("no copy can be kept")
)

// share waits for the copy of a file. It starts a fetch if none is running.
func (s *Store) share(ctx context.Context, name, tag string) error {
	s.mu.Lock()
	one := s.running[name]
	if one == nil {
		one = s.start(ctx, name, tag, min(waitedMax, s.max))
	}
	s.mu.Unlock()
	if one.max > waitedMax {
		return errNoCopy
	}
	select {
	case <-one.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if one.tag != tag {
		return errAgain
	}
	return one.err
}

// fetchLater starts the copy of a file that was read, and does not wait for it.
func (s *Store) fetchLater(ctx context.Context, name, tag string) {
	if s.isPaused() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[name] != nil || s.later >= laterMax || s.closing.Err() != nil {
		return
	}
	s.later++
	one := s.start(ctx, name, tag, s.max)
	s.fetches.Go(func() {
		<-one.done
		s.mu.Lock()
		defer s.mu.Unlock()
		s.later--
	})
}

// start starts a fetch. It does not end with the reader. The caller holds the lock.
func (s *Store) start(ctx context.Context, name, tag string, max int64) *fetch {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.closing, cancel)
	one := &fetch{tag: tag, max: max, done: make(chan struct{}), cancel: cancel}
	s.running[name] = one
	s.fetches.Go(func() {
		one.err = s.fill(ctx, name, one)
		stop()
		cancel()
		s.mu.Lock()
		delete(s.running, name)
		if one.dropped {
			one.err = errAgain
		}
		s.mu.Unlock()
		close(one.done)
	})
	return one
}

// fill makes the copy, unless one of an earlier process can be used.
func (s *Store) fill(ctx context.Context, name string, one *fetch) error {
	if s.verify(ctx, name, one.tag, one.max) {
		return nil
	}
	f, err := s.Origin.Get(ctx, name)
	if err != nil {
		return err
	}
	defer closeFile(f)
	switch {
	case one.tag != "" && one.tag != f.Tag:
		return errAgain
	case f.Size > one.max || len(f.Tag) > tagMax:
		return errNoCopy
	}
	return s.write(ctx, f)
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

// reportRead is like report. Most files have no copy, or it was evicted.
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
