package lane

import (
	"io"
	"syscall"
	"time"
	"unsafe"
)

// The waits of a running case are raw system calls: the thread stays in the kernel with all
// that the Go runtime ties to it. Package syscall hands that over for each wait. This keeps
// the runtime's monitor busy and costs more than everything else a case needs (README.md).
//
// Other calls of every case are raw as well, because nothing else in this process wants to
// run meanwhile. Exceptions are fstat and fstatfs, which do not wait: their numbers and
// structures differ from architecture to architecture. pread and lstat are exceptions on
// architectures of 32 bits, or without files of their own here.

// pollFD is struct pollfd of poll(2).
type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 0x01

// poll waits until one of the descriptors is readable, at most for timeout.
func poll(fds []pollFD, timeout time.Duration) error {
	ts := syscall.NsecToTimespec(int64(max(0, timeout)))
	_, _, e := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(fds))),
		uintptr(len(fds)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if e != 0 && e != syscall.EINTR {
		return fail("poll", "", e)
	}
	return nil
}

// wait4 is wait4(2) for any child. With WNOHANG it does not block, and got is 0 if no child has ended. Without
// WUNTRACED it does not return a child that has stopped, unless this process traces the child.
func wait4(options uintptr, usage *syscall.Rusage) (got int, status syscall.WaitStatus, err error) {
	const all = 0x40000000 // __WALL: children made by clone(2) too
	anyChild := -1
	r, _, e := syscall.RawSyscall6(syscall.SYS_WAIT4, uintptr(anyChild),
		uintptr(unsafe.Pointer(&status)), options|all, uintptr(unsafe.Pointer(usage)), 0, 0)
	if e != 0 {
		return 0, 0, e
	}
	return int(r), status, nil
}

// untrace stops tracing a process that asked for it (PTRACE_TRACEME) and has stopped for a signal. The process
// goes on with that signal. SIGTRAP is dropped: the kernel sends it when a traced process executes a program.
func untrace(pid int, sig syscall.Signal) {
	if sig == syscall.SIGTRAP {
		sig = 0
	}
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_DETACH, uintptr(pid), 0, uintptr(sig), 0, 0)
}

// idlePatience bounds a raw read of the socket. A lane that is idle for longer waits as
// package syscall does. Otherwise the runtime's monitor would wake 100 times a second to see
// whether its thread is back.
const idlePatience = 50 * time.Millisecond

// setIdlePatience bounds every read of the socket.
func setIdlePatience() error {
	tv := syscall.NsecToTimeval(int64(idlePatience))
	return fail("set up", "the socket", syscall.SetsockoptTimeval(JobsFD, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &tv))
}

// receive reads from the parent.
func receive(b []byte) (int, error) {
	for {
		n, err := read(JobsFD, b)
		switch {
		case err == syscall.EAGAIN:
			fds := pollFD{fd: JobsFD, events: pollIn}
			syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 1, 0, 0, 0, 0)
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// removeDir is AT_REMOVEDIR of unlinkat(2).
const removeDir = 0x200

func rmdirAt(fd int, name string) error {
	p, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, e := syscall.Syscall(syscall.SYS_UNLINKAT, uintptr(fd), uintptr(unsafe.Pointer(p)), removeDir)
	return asError(e)
}

// closeFD closes a descriptor. It ignores errors: on these file systems a failed write is
// reported by the write itself.
func closeFD(fd int) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
}

// read reads once.
func read(fd int, b []byte) (int, error) {
	n, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func writeFull(fd int, b []byte) error {
	for len(b) > 0 {
		n, _, e := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		if e == syscall.EINTR {
			continue
		}
		if e != 0 {
			return e
		}
		b = b[n:]
	}
	return nil
}

// readFull reads len(b) bytes from offset; fewer are io.ErrUnexpectedEOF.
func readFull(fd int, b []byte, offset int64) error {
	for len(b) > 0 {
		n, err := pread(fd, b, offset)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		b, offset = b[n:], offset+int64(n)
	}
	return nil
}

// pread reads once, from offset. With 32 bits the offset takes two arguments, whose order and
// places differ between architectures.
func pread(fd int, b []byte, offset int64) (int, error) {
	if unsafe.Sizeof(uintptr(0)) < unsafe.Sizeof(offset) {
		return syscall.Pread(fd, b, offset)
	}
	n, _, e := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(offset), 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

// readWhole reads a file of /proc, which has no size, into memory that grows.
func readWhole(path string, space *[]byte) ([]byte, error) {
	if len(*space) == 0 {
		*space = make([]byte, 16<<10)
	}
	for {
		b, err := readFile(path, *space)
		if err != nil || len(b) < len(*space) {
			return b, err
		}
		*space = make([]byte, 2*len(*space))
	}
}

// readFile reads the start of a small file into buf.
func readFile(path string, buf []byte) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	have := 0
	for have < len(buf) {
		n, err := syscall.Read(fd, buf[have:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		have += n
	}
	return buf[:have], nil
}

// ReadNow reads data that is in memory, or in a pipe that does not block. ReadNow and SendNow
// are for the parent's end of the link. They are system calls that end at once, so they bypass
// the runtime. On a busy machine it would start threads for them, and move work between
// threads.
func ReadNow(fd int, b []byte) (int, error) { return read(fd, b) }
