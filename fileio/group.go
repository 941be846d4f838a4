package fileio

import (
	"context"
	"sync"
	"sync/atomic"

	"muster/internal/fair"
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

// bufferSizes are the sizes of buffers. The smallest one is the unit of the budget. An index
// of bufferSizes is called a class.
var bufferSizes = [...]int{4 << 10, 16 << 10, 64 << 10, chunkSize, pieceSize}

// units returns how many units a buffer of a class takes.
func units(class int) int64 { return int64(bufferSizes[class] / bufferSizes[0]) }

// memory is a budget of bytes, which clients take as buffers.
type memory struct {
	budget *fair.Budget
	unused [len(bufferSizes)]sync.Pool
}

func newMemory(bytes int64, o Options) *memory {
	size := bytes / int64(bufferSizes[0])
	return &memory{budget: fair.New(fair.Options{Size: size, WaitingMax: memoryWaitingMax, WaitMax: o.WaitMax, Shares: true})}
}

// memoryWaitingMax is how many operations may wait for memory. Further operations are refused.
const memoryWaitingMax = 1 << 16

// A buffer is memory that a client holds.
type buffer struct {
	data   []byte
	room   *[]byte // data, as unused stores it
	class  int
	memory *memory
	client fair.Client
}

// newBuffer waits for the smallest buffer, and then fits it to size bytes.
func (m *memory) newBuffer(ctx context.Context, size int) (*buffer, error) {
	return m.takeBuffer(ctx, m.budget.Take, size)
}

// newBufferLate is like newBuffer, for an operation that has begun.
func (m *memory) newBufferLate(ctx context.Context, size int) (*buffer, error) {
	return m.takeBuffer(ctx, m.budget.TakeLate, size)
}

func (m *memory) takeBuffer(ctx context.Context, take func(context.Context, fair.Client) error, size int) (*buffer, error) {
	b := &buffer{memory: m, client: fair.ClientOf(ctx)}
	if err := take(ctx, b.client); err != nil {
		return nil, err
	}
	b.allocate(0)
	b.fit(size)
	return b, nil
}

// fit replaces the buffer by one that holds size bytes, or by a smaller one if the client's
// share does not suffice. The content is lost.
func (b *buffer) fit(size int) {
	b.shrink()
	class := 0
	for class+1 < len(bufferSizes) && bufferSizes[class] < size {
		class++
	}
	for ; class > 0; class-- {
		if b.memory.budget.TryTake(b.client, units(class)-units(0)) {
			b.memory.unused[0].Put(b.room)
			b.allocate(class)
			return
		}
	}
}

// allocate gets the bytes of a class. The client must hold the units.
func (b *buffer) allocate(class int) {
	room, ok := b.memory.unused[class].Get().(*[]byte)
	if !ok {
		made := make([]byte, bufferSizes[class])
		room = &made
	}
	b.class, b.room, b.data = class, room, *room
}

// grow moves the content to the next larger buffer. It returns false if the buffer has the
// largest size or the client's share does not suffice.
func (b *buffer) grow() bool {
	next := b.class + 1
	if next == len(bufferSizes) || !b.memory.budget.TryTake(b.client, units(next)-units(b.class)) {
		return false
	}
	room, class := b.room, b.class
	b.allocate(next)
	copy(b.data, *room)
	b.memory.unused[class].Put(room)
	return true
}

// shrink releases all but the smallest buffer. The content is lost.
func (b *buffer) shrink() {
	if b.class == 0 {
		return
	}
	more := units(b.class) - units(0)
	b.memory.unused[b.class].Put(b.room)
	b.allocate(0)
	b.memory.budget.Give(b.client, more)
}

// free releases the memory. A second call does nothing.
func (b *buffer) free() {
	if b.data == nil {
		return
	}
	b.memory.unused[b.class].Put(b.room)
	b.data = nil
	b.memory.budget.Give(b.client, units(b.class))
}
