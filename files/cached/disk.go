package cached

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"muster/fileio"
	"muster/internal/wording"
)

// A disk has the copies. It may fail or hang.
type disk struct {
	log *slog.Logger

	operations sync.WaitGroup
	hanging    atomic.Int64 // operations that were left; while there are any, copies are not used

	mu     sync.Mutex
	paused time.Time // no copy is made until then
	warned time.Time
}

// errSlow is the error of an operation on copies that takes too long, or would.
var errSlow = fmt.Errorf("the disk of the copies is too slow: %w", fileio.ErrBusy)

var errHangs = errors.New("its disk does not answer")

// attempt executes an operation on copies, with a timer that the operation may stop while it waits for
// something else. If the disk hangs, or has too much to do, attempt returns without the operation. Then
// no copies are used until it has ended.
func (d *disk) attempt(ctx context.Context, op func(*time.Timer) (openCopy, error)) (openCopy, error) {
	if d.hanging.Load() > 0 {
		return openCopy{}, errSlow
	}
	type result struct {
		openCopy
		error
	}
	slow := time.NewTimer(patience)
	defer slow.Stop()
	done, left := make(chan result), make(chan struct{})
	d.operations.Go(func() {
		is, err := op(slow)
		select {
		case done <- result{is, err}:
		case <-left:
			closeFile(is.file)
			d.hanging.Add(-1)
		}
	})
	select {
	case r := <-done:
		return r.openCopy, r.error
	case <-slow.C:
	}
	d.hanging.Add(1)
	close(left)
	d.report(ctx, errHangs)
	return openCopy{}, errSlow
}

// pauseTime is how long no copies are made after a failure, and warnTime how long no further
// warning is logged.
const (
	pauseTime = 10 * time.Second
	warnTime  = time.Hour
)

// report pauses copying after a failure. It is no failure if a copy does not fit because others are
// being made, or if too many operations wait.
func (d *disk) report(ctx context.Context, err error) {
	var errno syscall.Errno
	full := errors.Is(err, syscall.ENOSPC) && !errors.As(err, &errno)
	if err == nil || full || errors.Is(err, fileio.ErrBusy) || ctx.Err() != nil {
		return
	}
	d.mu.Lock()
	now := time.Now()
	warn := now.Sub(d.warned) > warnTime
	d.paused = now.Add(pauseTime)
	if warn {
		d.warned = now
	}
	d.mu.Unlock()
	if !warn {
		return
	}
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		err = named.Err // the copy's name is a digest
	}
	reason := wording.Of(err)
	if errors.Is(err, fs.ErrNotExist) {
		reason = "its folder was removed: start the server again"
	}
	d.log.Warn("the cache cannot keep copies, so files are read from the object store", "reason", reason)
}

func (d *disk) isPaused() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hanging.Load() > 0 || time.Now().Before(d.paused)
}
