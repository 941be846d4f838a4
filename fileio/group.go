package fileio

import (
	"context"
	"sync"
	"sync/atomic"

	"muster/pool"
)

// A committer flushes files together. What waits goes through two flushes of the file
// system: the first one flushes the data, then the files are renamed, and the second one
// flushes their names. The second one of some is the first one of those that came after
// them, so that one flush is made for each group.
//
// Renaming first and flushing once would do for files that Put has acknowledged, but after
// a power failure one that it had not could be there with a part of its bytes.
type committer struct {
	store *Store

	mu     sync.Mutex
	wake   *sync.Cond
	staged []*waiting
	closed bool

	// failures counts flushes that failed, and failure is the last one's error, which run
	// alone has.
	failures atomic.Uint64
	failure  error

	ended chan struct{}
}

// waiting is a put whose file is written.
type waiting struct {
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

// publish returns when the file has its name for good.
func (c *committer) publish(p *put) (Entry, error) {
	w := &waiting{put: p, done: make(chan struct{})}
	c.mu.Lock()
	c.staged = append(c.staged, w)
	c.wake.Signal()
	c.mu.Unlock()
	<-w.done
	return w.entry, w.err
}

// close returns when nothing waits any longer.
func (c *committer) close() {
	c.mu.Lock()
	c.closed = true
	c.wake.Signal()
	c.mu.Unlock()
	<-c.ended
}

// renamesAtOnce is how many files are renamed at a time.
const renamesAtOnce = 8

func (c *committer) run() {
	defer close(c.ended)
	ctx := context.Background()
	var renamed []*waiting // and not flushed since
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

// next returns what is written; it waits for something unless there is something else to
// do, and returns nothing when the committer is closed.
func (c *committer) next(busy bool) []*waiting {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.staged) == 0 && !busy && !c.closed {
		c.wake.Wait()
	}
	staged := c.staged
	c.staged = nil
	return staged
}

// rename gives files their names, once their data is flushed, and returns those that have
// them; others are answered.
func (c *committer) rename(ctx context.Context, staged []*waiting, unflushed error) (renamed []*waiting) {
	_ = pool.ForEach(ctx, renamesAtOnce, staged, func(_ context.Context, w *waiting) error {
		if w.err = unflushed; w.err == nil && w.put.failures != c.failures.Load() {
			// What it had written then may have been what could not be flushed. The system
			// tells that once, and the next flush finds nothing wrong.
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
