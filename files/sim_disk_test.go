package files_test

import (
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"muster/fileio"
)

// simDisk is an engine with a disk in memory and the clock of a bubble. Each job takes some
// time on one of its threads.
type simDisk struct {
	threads, light chan struct{}
	slowest        time.Duration

	mu      sync.Mutex
	random  *rand.Rand
	folders map[int]map[string]*simFile
	open    map[int]*simFile
	last    int // the last descriptor or inode
}

type simFile struct {
	number uint64
	data   []byte
	at     time.Time
}

func newSimDisk(seed uint64, threads int, slowest time.Duration) *simDisk {
	return &simDisk{
		threads: make(chan struct{}, threads), light: make(chan struct{}, 1), slowest: slowest,
		random: rand.New(rand.NewPCG(seed, 2)), folders: map[int]map[string]*simFile{}, open: map[int]*simFile{}, last: 1000,
	}
}

func (d *simDisk) Room() fileio.Room {
	return fileio.RoomFor(cap(d.threads), cap(d.light))
}

func (d *simDisk) Close() error { return nil }

func (d *simDisk) Stats() fileio.Stats { return fileio.Stats{Threads: cap(d.threads) + cap(d.light)} }

func (d *simDisk) Do(j *fileio.Job) error {
	threads := d.threads
	if j.Op.Light() {
		threads = d.light
	}
	threads <- struct{}{}
	defer func() { <-threads }()
	<-time.After(d.takes(j))
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.execute(j)
}

// takes returns how long a job takes, at random. A job about names alone is faster.
func (d *simDisk) takes(j *fileio.Job) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := d.slowest
	if j.Op.Light() {
		most /= 10
	}
	return time.Duration(d.random.Int64N(int64(most)) + 1)
}

func (d *simDisk) execute(j *fileio.Job) error {
	folder := d.folders[j.Folder]
	if folder == nil {
		folder = map[string]*simFile{}
		d.folders[j.Folder] = folder
	}
	switch j.Op {
	case fileio.OpPut, fileio.OpStage:
		name := j.Name
		if j.Op == fileio.OpStage {
			name = j.Temp
		}
		f := d.made(slices.Clone(j.Data))
		folder[name] = f
		j.Info = f.entry()
	case fileio.OpCreate:
		f := d.made(nil)
		folder[j.Temp] = f
		j.File = d.opened(f)
	case fileio.OpWrite:
		f := d.open[j.File]
		f.data = append(f.data[:j.Offset], j.Data...)
	case fileio.OpSeal:
		j.Info = d.open[j.File].entry()
		delete(d.open, j.File)
	case fileio.OpCommit:
		if folder[j.Temp] == nil {
			return syscall.ENOENT
		}
		folder[j.Name] = folder[j.Temp]
		delete(folder, j.Temp)
	case fileio.OpDiscard:
		delete(folder, j.Temp)
	case fileio.OpGet:
		f := folder[j.Name]
		if f == nil {
			return fs.ErrNotExist
		}
		j.Info, j.File = f.entry(), -1
		if j.N = copy(j.Data, f.data); j.N < len(f.data) {
			j.File = d.opened(f)
		}
	case fileio.OpRead:
		j.N = copy(j.Data, d.open[j.File].data[j.Offset:])
	case fileio.OpClose:
		delete(d.open, j.File)
	case fileio.OpStat:
		f := folder[j.Name]
		if f == nil {
			return fs.ErrNotExist
		}
		j.Info = f.entry()
	case fileio.OpDelete:
		if folder[j.Name] == nil {
			return fs.ErrNotExist
		}
		delete(folder, j.Name)
	}
	return nil
}

func (d *simDisk) made(data []byte) *simFile {
	d.last++
	return &simFile{uint64(d.last), data, time.Now()}
}

func (d *simDisk) opened(f *simFile) int {
	d.last++
	d.open[d.last] = f
	return d.last
}

func (f *simFile) entry() fileio.Entry {
	return fileio.Entry{Size: int64(len(f.data)), Changed: f.at, Inode: f.number}
}

// left counts the files that are open, and those that have no name yet.
func (d *simDisk) left() (open, unnamed int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, folder := range d.folders {
		for name := range folder {
			if name[0] == '~' {
				unnamed++
			}
		}
	}
	return len(d.open), unnamed
}
