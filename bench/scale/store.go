package main

import (
	"crypto/sha256"
	"sync"
)

// key is the digest of a content.
type key = [sha256.Size]byte

// span says where a content lies: the number of the chunk, the offset in it, and the length.
// Without pointers in keys and values, the garbage collector skips the maps.
type span struct{ chunk, offset, size uint32 }

const (
	shards    = 64
	chunkSize = 1 << 20
)

// store keeps contents in memory. Many goroutines may use it. A copy of each content lies in a
// large chunk, so a million contents are a few thousand objects for the garbage collector.
type store struct{ shard [shards]storeShard }

type storeShard struct {
	mu     sync.Mutex
	at     map[key]span
	chunks [][]byte
}

func (s *store) of(k *key) *storeShard { return &s.shard[k[0]%shards] }

// put keeps data under a digest, which it does not check. Of nil it keeps only that the engine
// has it.
func (s *store) put(k key, data []byte) {
	one := s.of(&k)
	one.mu.Lock()
	defer one.mu.Unlock()
	if _, known := one.at[k]; known {
		return
	}
	if one.at == nil {
		one.at = map[key]span{}
	}
	last := len(one.chunks) - 1
	if last < 0 || len(one.chunks[last])+len(data) > cap(one.chunks[last]) {
		one.chunks = append(one.chunks, make([]byte, 0, max(chunkSize, len(data))))
		last++
	}
	offset := len(one.chunks[last])
	one.chunks[last] = append(one.chunks[last], data...)
	one.at[k] = span{uint32(last), uint32(offset), uint32(len(data))}
}

// get returns a content, which must not be changed.
func (s *store) get(k key) (data []byte, known bool) {
	one := s.of(&k)
	one.mu.Lock()
	defer one.mu.Unlock()
	at, known := one.at[k]
	if !known || at.size == 0 {
		return nil, known
	}
	return one.chunks[at.chunk][at.offset : at.offset+at.size : at.offset+at.size], true
}
