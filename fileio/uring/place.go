//go:build linux

package uring

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"muster/fileio"
)

// A place is where a job is executed; it makes one call at a time. It is fileio.Calls: by
// its ring what the ring can, and the rest in the goroutine's thread, of which there is one
// for each kind.
//
// The kernel reads and writes memory of Go's while it makes a call: the place's own, which
// stays where it is as long as the engine is there, and the job's data, which is pinned
// while the job is executed.
type place struct {
	ring   *ring
	number uint64     // among the ring's
	done   chan int32 // gets what a call returns
	only   *threads

	data runtime.Pinner
	call *callMemory
}

// callMemory is what the kernel is pointed to.
type callMemory struct {
	names  [2][nameRoom]byte // each with a 0 at its end
	status unix.Statx_t
}

// nameRoom is for the longest name of one component, and its end.
const nameRoom = 256

// threads are for what a ring cannot do.
type threads struct{ list, flushAll chan struct{} }

func newThreads() *threads {
	return &threads{make(chan struct{}, 1), make(chan struct{}, 1)}
}

// threadsCount is how many there are at most.
const threadsCount = 2

func (p *place) run(j *fileio.Job) error {
	if len(j.Data) > 0 {
		p.data.Pin(&j.Data[0])
		defer p.data.Unpin()
	}
	return j.RunOn(p)
}

// do makes a call, again if a signal has interrupted it.
func (p *place) do(c sqe) (int, error) {
	c.user = p.number
	for {
		p.ring.calls <- c
		n := <-p.done
		if n >= 0 {
			return int(n), nil
		}
		if err := unix.Errno(-n); err != unix.EINTR || c.opcode == opClose {
			return 0, err
		}
	}
}

// doAside has a thread of the kernel's make a call from the start. Else the one thread that
// hands over tries it first, and on file systems like FUSE that alone waits, and all other
// calls with it.
func (p *place) doAside(c sqe) (int, error) {
	c.flags = sqeAsync
	return p.do(c)
}

// name puts a name where the kernel finds it.
func (p *place) name(i int, name string) (address uint64, err error) {
	room := &p.call.names[i]
	if len(name) >= len(room) {
		return 0, unix.ENAMETOOLONG
	}
	for k := range len(name) {
		if name[k] == 0 {
			return 0, unix.EINVAL
		}
	}
	room[copy(room[:], name)] = 0
	return addressOf(&room[0]), nil
}

func addressOf(b *byte) uint64 { return uint64(uintptr(unsafe.Pointer(b))) }

// onName makes a call about one name.
func (p *place) onName(c sqe, name string) (n int, err error) {
	if c.addr, err = p.name(0, name); err != nil {
		return 0, err
	}
	return p.doAside(c)
}

func (p *place) Open(folder int, name string, flags int, mode uint32) (file int, err error) {
	file, err = p.onName(sqe{opcode: opOpenat, fd: int32(folder), len: mode, opFlags: uint32(flags)}, name)
	if err != nil {
		return -1, err
	}
	return file, nil
}

func (p *place) Close(file int) error {
	_, err := p.doAside(sqe{opcode: opClose, fd: int32(file)})
	return err
}

// Read and Write are tried first, as far as nothing waits in that, and go to a thread of the
// kernel's if something would. From the start they cannot: Linux 6.10 and later then count
// them among those on what is no file, for which there is one thread. It is a pity on FUSE
// with direct_io alone, of which the kernel believes that it never waits: there one read
// follows upon another.

func (p *place) Read(file int, data []byte, offset int64) (int, error) {
	// It was opened so that a pipe would keep nobody waiting, and is a file by now. The
	// kernel would take that for the promise that it never waits, on any file system.
	if _, err := unix.FcntlInt(uintptr(file), unix.F_SETFL, unix.O_RDONLY); err != nil {
		return 0, err
	}
	return p.transfer(opRead, file, data, offset)
}

func (p *place) Write(file int, data []byte, offset int64) (int, error) {
	return p.transfer(opWrite, file, data, offset)
}

func (p *place) transfer(op uint8, file int, data []byte, offset int64) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	return p.do(sqe{opcode: op, fd: int32(file), addr: addressOf(&data[0]), len: uint32(len(data)), off: uint64(offset)})
}

func (p *place) Rename(folder int, from, to string) error {
	second, err := p.name(1, to)
	if err != nil {
		return err
	}
	_, err = p.onName(sqe{opcode: opRenameat, fd: int32(folder), len: uint32(folder), off: second}, from)
	return err
}

func (p *place) Unlink(folder int, name string) error {
	_, err := p.onName(sqe{opcode: opUnlinkat, fd: int32(folder)}, name)
	return err
}

func (p *place) Stat(at int, name string) (fileio.Status, error) {
	flags := uint32(unix.AT_SYMLINK_NOFOLLOW)
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	st := &p.call.status
	_, err := p.onName(sqe{
		opcode: opStatx, fd: int32(at), len: unix.STATX_BASIC_STATS, opFlags: flags,
		off: uint64(uintptr(unsafe.Pointer(st))),
	}, name)
	if err != nil {
		return fileio.Status{}, err
	}
	e := fileio.Entry{Size: int64(st.Size), Changed: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)), Inode: st.Ino}
	return fileio.Status{Entry: e, Regular: st.Mode&unix.S_IFMT == unix.S_IFREG}, nil
}

func (p *place) Flush(file int) error {
	_, err := p.doAside(sqe{opcode: opFsync, fd: int32(file), opFlags: fsyncDatasync})
	return err
}

func (p *place) FlushFolder(folder int) error {
	_, err := p.doAside(sqe{opcode: opFsync, fd: int32(folder)})
	return err
}

func (p *place) List(folder int) ([]string, error) {
	p.only.list <- struct{}{}
	defer func() { <-p.only.list }()
	return fileio.System{}.List(folder)
}

func (p *place) FlushAll(folder int) error {
	p.only.flushAll <- struct{}{}
	defer func() { <-p.only.flushAll }()
	return fileio.System{}.FlushAll(folder)
}
