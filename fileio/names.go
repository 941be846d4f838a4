package fileio

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// nameLocks are locks by name. Memory is needed only for names in use.
//
// Beside them are the files that were opened within the last second, so that a Get of a busy
// file need not open it. Only the holder of a lock changes a file. So locking a name removes its
// open file, and the name has none until it is unlocked. A change by another program is seen
// after a second.
type nameLocks struct {
	seed      maphash.Seed
	shards    [64]lockShard
	openedMax int64
	opened    atomic.Int64
	closing   atomic.Bool // closeOpened is to run within a second
}

type lockShard struct {
	mu     sync.Mutex
	names  map[string]*nameLock
	opened map[string]*openFile // without names that are locked
	ended  uint64               // how many locks have ended
	_      [32]byte             // keeps shards on separate cache lines
}

type nameLock struct {
	sync.RWMutex
	users int // goroutines that hold the lock or wait for it
}

// newNameLocks returns locks with at most openedMax open files.
func newNameLocks(openedMax int64) *nameLocks {
	l := &nameLocks{seed: maphash.MakeSeed(), openedMax: openedMax}
	for i := range l.shards {
		l.shards[i].names = map[string]*nameLock{}
		l.shards[i].ended = 1
	}
	return l
}

func (l *nameLocks) shard(name string) *lockShard {
	return &l.shards[maphash.String(l.seed, name)%uint64(len(l.shards))]
}

// lock locks a name, exclusively or shared with others that do not want it exclusively. It
// returns the function that unlocks it.
func (l *nameLocks) lock(name string, exclusive bool) (unlock func()) {
	shard := l.shard(name)
	shard.mu.Lock()
	n := shard.names[name]
	if n == nil {
		n = &nameLock{}
		shard.names[name] = n
	}
	n.users++
	old := shard.opened[name]
	delete(shard.opened, name)
	shard.mu.Unlock()
	if old != nil {
		l.opened.Add(-1)
		old.close()
	}
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
		shard.ended++
		shard.mu.Unlock()
	}
}

// An openFile is a file with its readers. It is closed when they all have left it.
type openFile struct {
	Info

	file   int
	users  atomic.Int32
	cached atomic.Bool // the system had its beginning in memory

	content atomic.Pointer[[]byte] // of a small file that was found again; nil = not read
}

// contentMax is the largest file whose content is kept while it is open. With all open files this
// is 16 MiB.
const contentMax = 2 << 10

// leave ends one use of the file. It reports whether that was the last one: the caller then
// closes the file.
func (f *openFile) leave() bool { return f.users.Add(-1) == 0 }

func (f *openFile) close() {
	if f.leave() {
		_ = unix.Close(f.file)
	}
}

// find returns the open file of a name, or nil. The caller must leave or close it. Pass before to
// keep, which compares it to detect a lock that has ended since the call of find.
func (l *nameLocks) find(name string) (f *openFile, before uint64) {
	shard := l.shard(name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if f = shard.opened[name]; f != nil {
		f.users.Add(1)
	}
	return f, shard.ended
}

// openedTime is how long files are kept open.
const openedTime = time.Second

// keep keeps a file open, unless its name is or was locked since the call of find. The system
// gives a file the lowest free number: above three quarters of the limit few are left for others.
func (l *nameLocks) keep(f *openFile, before uint64) {
	if int64(f.file) >= 12*l.openedMax {
		return
	}
	shard := l.shard(f.Name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if shard.ended != before || shard.names[f.Name] != nil || shard.opened[f.Name] != nil {
		return
	}
	if l.opened.Add(1) > l.openedMax {
		l.opened.Add(-1)
		return
	}
	if shard.opened == nil {
		shard.opened = map[string]*openFile{}
	}
	f.users.Add(1)
	shard.opened[f.Name] = f
	if !l.closing.Swap(true) {
		time.AfterFunc(openedTime, l.closeOpened)
	}
}

// closeOpened closes all open files, except those in use.
func (l *nameLocks) closeOpened() {
	l.closing.Store(false) // before the files are taken: keep has it run again for a later one
	n := int64(0)
	for i := range l.shards {
		shard := &l.shards[i]
		shard.mu.Lock()
		files := shard.opened
		shard.opened = nil
		shard.mu.Unlock()
		for _, f := range files {
			f.close()
			n++
		}
	}
	l.opened.Add(-n)
}

// openMax returns how many files a store keeps open: a sixteenth of the limit, so that many more
// remain for connections.
func openMax() int64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int64(min(limit.Cur/16, 8192))
}
