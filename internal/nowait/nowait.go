//go:build linux

// Package nowait makes system calls that never wait, without notifying Go's scheduler. The
// scheduler takes the processor from a thread that is in a system call for about 20 µs, and
// starts another thread if none is idle. Copying 50 KB takes as long, so on busy processors
// many threads are in the middle of it: a service with active connections only had seventy.
//
// A call that waits here holds one of Go's processors and all goroutines that are queued
// there. So the package must not make calls that may wait. Sockets must be non-blocking. Files
// must be on a file system that reports correctly what it has in memory ([Local]).
package nowait

import (
	"io"
	"math/bits"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a non-blocking descriptor.
func Read(fd int, p []byte) (int, error) { return transfer(unix.SYS_READ, fd, p, 0) }

// Write writes to a non-blocking descriptor.
func Write(fd int, p []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, p, 0) }

// WriteMore writes to a TCP socket and announces that another write follows at once. Data that
// does not fill a segment waits for that write, for at most 200 ms.
func WriteMore(fd int, p []byte) (int, error) {
	return transfer(unix.SYS_SENDTO, fd, p, unix.MSG_MORE|unix.MSG_NOSIGNAL)
}

// transfer makes a call. Calls without flags ignore the last three arguments.
func transfer(call uintptr, fd int, p []byte, flags uintptr) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := syscall.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0)
		if errno == 0 {
			return int(n), nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// ReadAt reads the part of a file at an offset that is in memory. It fails with EAGAIN if no
// byte there is in memory.
func ReadAt(fd int, p []byte, offset int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	vector := unix.Iovec{Base: &p[0]}
	vector.SetLen(len(p))
	for {
		// On 32-bit systems the offset takes two registers.
		n, _, errno := syscall.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&vector)), 1,
			uintptr(offset), uintptr(uint64(offset)>>32), unix.RWF_NOWAIT)
		if errno == 0 {
			return int(n), nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// Cached reports whether the system has a part of a file in memory, or is reading it from the
// disk just now. It reports false before Linux 6.5. It also reports false if a busy system counts too few
// pages, which happens now and then (Linux 6.18 counted 2 of 33, and all of them a moment later).
func Cached(fd int, offset, n int64) bool {
	if n <= 0 {
		return true
	}
	if bits.UintSize < 64 {
		return false // sendfile has another offset there
	}
	size := int64(unix.Getpagesize())
	pages := (offset+n-1)/size - offset/size + 1
	part := unix.CachestatRange{Off: uint64(offset), Len: uint64(n)}
	var counts unix.Cachestat_t
	_, _, errno := syscall.RawSyscall6(unix.SYS_CACHESTAT, uintptr(fd), uintptr(unsafe.Pointer(&part)), uintptr(unsafe.Pointer(&counts)), 0, 0, 0)
	return errno == 0 && counts.Cache >= uint64(pages)
}

// InMemory reports whether the system has a part of a file in memory. It reports false before
// Linux 6.5. It may be wrong about a part that somebody is reading from the disk just now.
func InMemory(fd int, offset, n int64) bool {
	if n <= 0 || !Cached(fd, offset, n) {
		return n <= 0
	}
	// The system reads the last page last, so look at that page. Call Cached before: looking at a
	// page that is not in memory makes the system read it.
	var last [1]byte
	_, err := ReadAt(fd, last[:], offset+n-1)
	return err == nil
}

// A Section is a part of a file that is in memory ([InMemory]).
type Section struct {
	File         int
	Offset, Left int64
}

// SendTo sends at most most bytes to a non-blocking socket, without copying them. It sends
// none where the file ends.
func (s *Section) SendTo(socket int, most int64) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDFILE, uintptr(socket), uintptr(s.File), uintptr(unsafe.Pointer(&s.Offset)),
			uintptr(min(s.Left, most)), 0, 0)
		if errno == 0 {
			s.Left -= int64(n)
			return int(n), nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// Read implements io.Reader. The section ends early where the file ends or is no longer in
// memory.
func (s *Section) Read(p []byte) (int, error) {
	n, err := ReadAt(s.File, p[:min(int64(len(p)), s.Left)], s.Offset)
	if err != nil || n == 0 {
		return 0, io.EOF
	}
	s.Offset, s.Left = s.Offset+int64(n), s.Left-int64(n)
	return n, nil
}

// resolveCached is RESOLVE_CACHED of openat2(2), since Linux 5.12. The call fails with EAGAIN
// if looking up the name needs the disk.
const resolveCached = 0x20

// Open opens a file for reading if its name is in memory. It does not update the access time,
// because that would need a write. Only the file's owner may do so (others get EPERM).
func Open(folder int, name string) (int, error) {
	text, err := syscall.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOATIME,
		Resolve: resolveCached,
	}
	for {
		fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT2, uintptr(folder), uintptr(unsafe.Pointer(text)),
			uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		if errno == 0 {
			return int(fd), nil
		}
		if errno != syscall.EINTR {
			return -1, errno
		}
	}
}

// Local reports whether a folder is on a file system that opens a file whose name is in memory
// without waiting, and that reports which parts of a file are in memory. Network file systems
// and FUSE may wait for others. tmpfs does not report what is in memory.
func Local(folder int) bool {
	var s unix.Statfs_t
	if err := unix.Fstatfs(folder, &s); err != nil {
		return false
	}
	switch int64(s.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		return true
	}
	return false
}
