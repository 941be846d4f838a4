package fileio

import (
	"hash/maphash"
	"sync"
)

// nameLocks are locks by name. Memory is needed only for names in use.
type nameLocks struct {
	seed   maphash.Seed
	shards [64]lockShard
}

type lockShard struct {
	mu    sync.Mutex
	names map[string]*nameLock
	_     [48]byte // keeps shards on separate cache lines
}

type nameLock struct {
	sync.RWMutex
	users int // goroutines that hold the lock or wait for it
}

func newNameLocks() *nameLocks {
	l := &nameLocks{seed: maphash.MakeSeed()}
	for i := range l.shards {
		l.shards[i].names = map[string]*nameLock{}
	}
	return l
}

// lock locks a name, exclusively or shared with others that do not want it exclusively. It
// returns the function that unlocks it.
func (l *nameLocks) lock(name string, exclusive bool) (unlock func()) {
	shard := &l.shards[maphash.String(l.seed, name)%uint64(len(l.shards))]
	shard.mu.Lock()
	n := shard.names[name]
	if n == nil {
		n = &nameLock{}
		shard.names[name] = n
	}
	n.users++
	shard.mu.Unlock()
	if exclusive {
		n.Lock()
	} else {
		n.RLock()
	}
	return func() {
		if exclusive {
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
