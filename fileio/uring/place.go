//go:build linux

package uring

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"muster/fileio"
)

// A place executes one job at a time, by one call at a time. It implements fileio.Calls: the
// ring makes the calls that it can. The goroutine's own thread makes the others, at most one
// of each kind at a time.
//
// During a call the kernel reads and writes memory of Go. The place's own memory is pinned as
// long as the engine exists. The job's data is pinned while the job runs.
type place struct {
	ring   *ring
	number uint64     // index in the ring
	done   chan int32 // receives the return value of a call
	side   *sideThreads

	data runtime.Pinner
	call *callMemory
}

// callMemory is the memory to which calls point.
type callMemory struct {
	names  [2][nameRoom]byte // zero-terminated
	status unix.Statx_t
}

// nameRoom holds the longest name of one component and its final zero.
const nameRoom = 256

// sideThreads limits the calls that a ring cannot make: one thread for each kind.
type sideThreads struct{ list, flushAll chan struct{} }

// sideThreadCount is the largest number of side threads.
const sideThreadCount = 2

func (p *place) run(j *fileio.Job) error {
	if len(j.Data) > 0 {
		p.data.Pin(&j.Data[0])
		defer p.data.Unpin()
	}
	return j.RunOn(p)
}

// do makes a call, and repeats it if a signal interrupts it.
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

// doAsync has a kernel thread make a call from the start. Otherwise the only submitting thread
// tries it first. On file systems such as FUSE the trial itself waits, and delays all other
// calls.
func (p *place) doAsync(c sqe) (int, error) {
	c.flags = sqeAsync
	return p.do(c)
}

// putName stores a name in the place's memory and returns its address.
func (p *place) putName(i int, name string) (address uint64, err error) {
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

// doByName makes a call on one name.
func (p *place) doByName(c sqe, name string) (n int, err error) {
	if c.addr, err = p.putName(0, name); err != nil {
		return 0, err
	}
	return p.doAsync(c)
}

func (p *place) Open(folder int, name string, flags int, mode uint32) (file int, err error) {
	file, err = p.doByName(sqe{opcode: opOpenat, fd: int32(folder), len: mode, opFlags: uint32(flags)}, name)
	if err != nil {
		return -1, err
	}
	return file, nil
}

func (p *place) Close(file int) error {
	_, err := p.doAsync(sqe{opcode: opClose, fd: int32(file)})
	return err
}

// The submitting thread tries Read and Write first, without waiting. If they would wait, a
// kernel thread makes them. They cannot use doAsync: Linux 6.10 and later then treat them as
// calls on non-files, for which only one thread exists. The cost is that reads on FUSE with
// direct_io are sequential, because the kernel assumes that these never wait.

func (p *place) Read(file int, data []byte, offset int64) (int, error) {
	// Clear O_NONBLOCK, which protected the opening from planted pipes. On a regular file the
	// kernel would take the flag as a promise that reads never wait, on any file system.
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
	second, err := p.putName(1, to)
	if err != nil {
		return err
	}
	_, err = p.doByName(sqe{opcode: opRenameat, fd: int32(folder), len: uint32(folder), off: second}, from)
	return err
}

func (p *place) Unlink(folder int, name string) error {
	_, err := p.doByName(sqe{opcode: opUnlinkat, fd: int32(folder)}, name)
	return err
}

func (p *place) Stat(at int, name string) (fileio.Status, error) {
	flags := uint32(unix.AT_SYMLINK_NOFOLLOW)
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	st := &p.call.status
	_, err := p.doByName(sqe{
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
	_, err := p.doAsync(sqe{opcode: opFsync, fd: int32(file), opFlags: fsyncDatasync})
	return err
}

func (p *place) FlushFolder(folder int) error {
	_, err := p.doAsync(sqe{opcode: opFsync, fd: int32(folder)})
	return err
}

func (p *place) List(folder int) ([]string, error) {
	p.side.list <- struct{}{}
	defer func() { <-p.side.list }()
	return fileio.System{}.List(folder)
}

func (p *place) FlushAll(folder int) error {
	p.side.flushAll <- struct{}{}
	defer func() { <-p.side.flushAll }()
	return fileio.System{}.FlushAll(folder)
}
