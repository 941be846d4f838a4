package fileio

import (
	"context"
	"sync"
)

// chunkSize is what is in memory of one file at most, and what is written or read of a
// larger one by one job.
const chunkSize = 256 << 10

// bufferSizes are what memory is taken in: a file of some size takes the first that it
// fits into.
var bufferSizes = [...]int{4 << 10, 16 << 10, 64 << 10, chunkSize}

// buffers are those that nobody uses now.
type buffers [len(bufferSizes)]sync.Pool

// A buffer is memory that is accounted for.
type buffer struct {
	data  []byte
	class int
	store *Store
}

// buffer waits until there is memory for size bytes, chunkSize at most, or the context
// ends.
func (s *Store) buffer(ctx context.Context, size int) (*buffer, error) {
	class := 0
	for bufferSizes[class] < size {
		class++
	}
	if err := s.memory.Acquire(ctx, int64(bufferSizes[class])); err != nil {
		return nil, err
	}
	b, ok := s.buffers[class].Get().(*buffer)
	if !ok {
		b = &buffer{data: make([]byte, bufferSizes[class]), class: class}
	}
	b.store = s
	return b, nil
}

// free gives the memory back.
func (b *buffer) free() {
	s := b.store
	b.store = nil
	s.buffers[b.class].Put(b)
	s.memory.Release(int64(bufferSizes[b.class]))
}
