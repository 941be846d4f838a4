package fileio

import (
	"hash/maphash"
	"sync"
)

// nameLocks are locks by name: of as many names as are in use.
type nameLocks struct {
	seed   maphash.Seed
	shards [64]lockShard
}

type lockShard struct {
	mu    sync.Mutex
	names map[string]*nameLock
	_     [48]byte // no shard shares a cache line with another
}

type nameLock struct {
	sync.RWMutex
	users int // that have it, or wait for it
}

func newNameLocks() *nameLocks {
	l := &nameLocks{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].names = map[string]*nameLock{}
	}
	return l
}

// lock locks a name: alone, or together with others that do not want it alone. It returns
// what unlocks it.
func (l *nameLocks) lock(name string, alone bool) (unlock func()) {
	shard := &l.shards[maphash.String(l.seed, name)%uint64(len(l.shards))]
	shard.mu.Lock()
	n := shard.names[name]
	if n == nil {
		n = &nameLock{}
		shard.names[name] = n
	}
	n.users++
	shard.mu.Unlock()
	if alone {
		n.Lock()
	} else {
		n.RLock()
	}
	return func() {
		if alone {
			n.Unlock()
		} else {
			n.RUnlock()
		}
		shard.mu.Lock()
		if n.users--; n.users == 0 {
			delete(shard.names, name)
		}
		shard.mu.Unlock()
	}
}
