package fileio

import (
	"context"
	"sync"

	"muster/internal/fair"
)

// chunkSize is the largest part of one file that is in memory. A job reads or writes at most
// one chunk of a larger file.
const chunkSize = 256 << 10

// bufferSizes are the sizes of buffers. The smallest one is the unit of the budget. An index
// of bufferSizes is called a class.
var bufferSizes = [...]int{4 << 10, 16 << 10, 64 << 10, chunkSize}

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
	b := &buffer{memory: m, client: fair.ClientOf(ctx)}
	if err := m.budget.Take(ctx, b.client); err != nil {
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
