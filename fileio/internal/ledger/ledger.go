// Package ledger accounts for the room that a store's files take, and decides which ones give
// way to others: only those whose names begin with certain prefixes, and of them first those
// that were not used for longest.
//
// Each file takes about 110 bytes of memory beside its name. No method looks at more files than
// it is about. The package must not open or remove files.
package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/internal/readable"
)

// Block is the unit of room in bytes. A file takes whole blocks, and at least one: that is about
// what it takes of a disk.
const Block = 4 << 10

// Room returns the room of a file of size bytes.
func Room(size int64) int64 { return max(1, (size+Block-1)/Block) * Block }

// Options of a Ledger.
type Options struct {
	// Capacity is the room of all files, in bytes.
	Capacity int64

	// Evict are the prefixes of the files that may give way.
	Evict []string

	// Touch records at a file that it was used. One goroutine calls it, at most once an hour for
	// each file. It may be slow: uses that it cannot follow are recorded later.
	Touch func(name string)
}

// A Ledger has an entry for each file. Any number of goroutines may call its methods. A nil
// Ledger records nothing.
//
// A caller that records a change of a file holds the file's lock, so that ledger and disk change
// in the same order. Files that give way are no longer in the ledger when Reserve returns them,
// and the caller deletes them.
type Ledger struct {
	options Options

	mu       sync.Mutex
	files    map[string]*entry
	first    entry // of a ring: the next one was used last, the previous one was not used for longest
	held     int64 // room of files, and of reservations
	evicting int64 // room of the files in the ring
	stats    Stats

	touched chan string
	ended   chan struct{}
}

// entry is a file.
type entry struct {
	name       string
	prev, next *entry // of the ring; nil = never evicted
	blocks     uint32
	touched    uint32 // when a use was last recorded at the file: seconds since 1970
}

// Stats are the figures of one moment.
type Stats struct {
	Held         int64 // room of files and of files in progress, in bytes
	Evicted      int64 // files since the start
	EvictedBytes int64 // their room
}

// touchQueue is how many files may wait for Touch.
const touchQueue = 1024

// touchAfter is the age at which a recorded use is recorded again.
const touchAfter = time.Hour

// New returns a ledger without files. Close it after use.
func New(o Options) *Ledger {
	l := &Ledger{options: o, files: map[string]*entry{}, touched: make(chan string, touchQueue), ended: make(chan struct{})}
	l.first.prev, l.first.next = &l.first, &l.first
	go func() {
		defer close(l.ended)
		for name := range l.touched {
			o.Touch(name)
		}
	}()
	return l
}

// Close waits until the recorded uses are at their files. No method may be called afterwards.
func (l *Ledger) Close() {
	if l == nil {
		return
	}
	close(l.touched)
	<-l.ended
}

// A Found is a file that is there at the start.
type Found struct {
	Name string
	Size int64
	Used time.Time // last
}

// Fill adds the files that are there at the start, and returns those that must give way.
func (l *Ledger) Fill(files []Found) (victims []string, err error) {
	slices.SortFunc(files, func(a, b Found) int { return cmp.Or(a.Used.Compare(b.Used), strings.Compare(a.Name, b.Name)) })
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range files {
		l.add(f.Name, f.Size).touched = uint32(max(0, f.Used.Unix()))
	}
	return l.reserve(0, "")
}

// add adds a file as the one that was used last.
func (l *Ledger) add(name string, size int64) *entry {
	e := &entry{name: name, blocks: uint32(Room(size) / Block)}
	l.files[name] = e
	l.held += e.room()
	if slices.ContainsFunc(l.options.Evict, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		l.evicting += e.room()
		e.prev, e.next = &l.first, &l.first
		l.use(e)
	}
	return e
}

func (e *entry) room() int64 { return int64(e.blocks) * Block }

// use moves a file to the beginning of the ring. It may be new.
func (l *Ledger) use(e *entry) {
	if e.prev.next == e {
		e.prev.next, e.next.prev = e.next, e.prev
	}
	e.prev, e.next = &l.first, l.first.next
	e.prev.next, e.next.prev = e, e
}

// remove removes a file.
func (l *Ledger) remove(e *entry) {
	delete(l.files, e.name)
	l.held -= e.room()
	if e.prev != nil {
		l.evicting -= e.room()
		e.prev.next, e.next.prev = e.next, e.prev
	}
}

// Use records that a file was used. It reports false for an unknown name, such as that of a file
// that gives way. A nil ledger knows all names.
func (l *Ledger) Use(name string) (known bool) {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.files[name]
	if e == nil || e.prev == nil {
		return e != nil
	}
	l.use(e)
	now := uint32(time.Now().Unix())
	if now < e.touched || now-e.touched < uint32(touchAfter/time.Second) {
		return true
	}
	select {
	case l.touched <- name:
		e.touched = now
	default: // later
	}
	return true
}

// Reserve takes room for a file in progress. It returns the files that give way to it, which the
// caller deletes. The file keep never does; "" = none. The error is a *FullError.
func (l *Ledger) Reserve(room int64, keep string) (victims []string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserve(room, keep)
}

func (l *Ledger) reserve(room int64, keep string) (victims []string, err error) {
	if err := l.fits(room, keep); err != nil {
		return nil, err
	}
	l.held += room
	for next := l.first.prev; l.held > l.options.Capacity; {
		oldest := next
		if next = oldest.prev; oldest.name == keep {
			continue
		}
		l.remove(oldest)
		l.stats.Evicted++
		l.stats.EvictedBytes += oldest.room()
		victims = append(victims, oldest.name)
	}
	return victims, nil
}

// Fits returns a *FullError if this room cannot be reserved.
func (l *Ledger) Fits(room int64, keep string) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fits(room, keep)
}

func (l *Ledger) fits(room int64, keep string) error {
	fixed := l.held - l.evicting
	if e := l.files[keep]; e != nil && e.prev != nil {
		fixed += e.room()
	}
	if room > l.options.Capacity-fixed {
		return &FullError{Capacity: l.options.Capacity, Fixed: fixed, Room: room}
	}
	return nil
}

// Release gives reserved room back.
func (l *Ledger) Release(room int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= room
}

// Put records that a name has a new file of size bytes, for which room was reserved.
func (l *Ledger) Put(name string, size, reserved int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.files[name]; old != nil {
		l.remove(old)
	}
	l.add(name, size).touched = uint32(time.Now().Unix())
	l.held -= reserved
}

// Remove records that a name has no file any more.
func (l *Ledger) Remove(name string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.files[name]; e != nil {
		l.remove(e)
	}
}

// Has reports whether a name has a file. A file that gives way is none, unless a new one has
// replaced it.
func (l *Ledger) Has(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.files[name] != nil
}

// Stats returns the figures of this moment.
func (l *Ledger) Stats() Stats {
	if l == nil {
		return Stats{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Held = l.held
	return s
}

// FullError is the error of a file that does not fit, even if all files give way that may.
type FullError struct {
	Capacity int64
	Fixed    int64 // room of files that never give way, and of those that are being written
	Room     int64 // that was asked for; 0 = none
}

func (f *FullError) Error() string {
	size := readable.BinarySize
	more := ""
	if f.Room > 0 {
		more = fmt.Sprintf(", so %s more do not fit", size(f.Room))
	}
	return fmt.Sprintf("the store may hold %s, and files that cannot be evicted take %s%s: delete some, or raise the capacity", size(f.Capacity), size(f.Fixed), more)
}

// Is makes a full store look like a full disk.
func (f *FullError) Is(target error) bool { return target == syscall.ENOSPC }
