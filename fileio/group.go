package fileio

import (
	"context"
	"sync"
	"sync/atomic"

	"muster/pool"
)

// A committer flushes files together. Each file goes through two flushes of the file system.
// The first one flushes its data. Then the file is renamed, and the second one flushes its
// name. One flush serves as the second of one group and as the first of the next.
//
// Renaming first and flushing once would suffice for files that Put has acknowledged. But
// after a power failure an unacknowledged file could exist with only a part of its bytes.
type committer struct {
	store *Store

	mu     sync.Mutex
	wake   *sync.Cond
	staged []*pendingPut
	closed bool

	// failures counts failed flushes. failure is the error of the last one. Only run uses it.
	failures atomic.Uint64
	failure  error

	ended chan struct{}
}

// A pendingPut is a put whose file is written but not yet published.
type pendingPut struct {
	put   *put
	entry Entry
	err   error
	done  chan struct{}
}

func newCommitter(s *Store) *committer {
	c := &committer{store: s, ended: make(chan struct{})}
	c.wake = sync.NewCond(&c.mu)
	go c.run()
	return c
}

// publish returns when the file has its name and the disk keeps it.
func (c *committer) publish(p *put) (Entry, error) {
	w := &pendingPut{put: p, done: make(chan struct{})}
	c.mu.Lock()
	c.staged = append(c.staged, w)
	c.wake.Signal()
	c.mu.Unlock()
	<-w.done
	return w.entry, w.err
}

// close returns when all staged files are published.
func (c *committer) close() {
	c.mu.Lock()
	c.closed = true
	c.wake.Signal()
	c.mu.Unlock()
	<-c.ended
}

// renameWorkers is how many files are renamed at the same time.
const renameWorkers = 8

func (c *committer) run() {
	defer close(c.ended)
	ctx := context.Background()
	var renamed []*pendingPut // since the last flush
	for {
		staged := c.next(len(renamed) > 0)
		if len(staged) == 0 && len(renamed) == 0 {
			return
		}
		j := Job{Op: OpSync, Folder: c.store.descriptor(0)}
		err := c.store.engine.Do(&j)
		if err != nil {
			c.failure = err
			c.failures.Add(1)
		}
		for _, w := range renamed {
			w.err = err
			close(w.done)
		}
		renamed = c.rename(ctx, staged, err)
	}
}

// next returns the staged files. If the committer is not busy, next waits for one. It returns
// none when the committer is closed.
func (c *committer) next(busy bool) []*pendingPut {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.staged) == 0 && !busy && !c.closed {
		c.wake.Wait()
	}
	staged := c.staged
	c.staged = nil
	return staged
}

// rename gives files their names, once their data is flushed, and returns those that
// succeeded. It answers the others.
func (c *committer) rename(ctx context.Context, staged []*pendingPut, unflushed error) (renamed []*pendingPut) {
	_ = pool.ForEach(ctx, renameWorkers, staged, func(_ context.Context, w *pendingPut) error {
		if w.err = unflushed; w.err == nil && w.put.failures != c.failures.Load() {
			// The failed flush may have been about this file. The system reports that only
			// once, and the next flush succeeds.
			w.err = c.failure
		}
		if w.err != nil {
			_ = w.put.discard()
			return nil
		}
		w.entry, w.err = w.put.commit(false)
		return nil
	})
	for _, w := range staged {
		if w.err != nil {
			close(w.done)
		} else {
			renamed = append(renamed, w)
		}
	}
	return renamed
}
