//go:build linux

// Package nowait makes calls into the system that never wait, and does not tell Go's
// scheduler of them. The scheduler takes the processor away from a thread that is in the
// system for some 20 µs, and starts another thread where there is none that is idle. What
// copies 50 KB takes as long, and where the processors are busy many threads are in the
// middle of that: a service whose connections alone were at work had seventy.
//
// A call that does wait here holds one of Go's processors, and with it all that is to run
// there. So the package must have none that may: sockets must not block, files must be
// on a file system that keeps its promises of what is in memory ([Local]).
package nowait

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Read reads from a descriptor that does not block.
func Read(fd int, p []byte) (int, error) { return transfer(unix.SYS_READ, fd, p) }

// Write writes to a descriptor that does not block.
func Write(fd int, p []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, p) }

func transfer(call uintptr, fd int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		if errno == 0 {
			return int(n), nil
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// ReadAt reads what is in memory of a file at an offset, and fails with EAGAIN where that is
// nothing.
func ReadAt(fd int, p []byte, offset int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	vector := unix.Iovec{Base: &p[0]}
	vector.SetLen(len(p))
	for {
		// The offset is in two halves where registers have 32 bits.
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

// resolveCached is RESOLVE_CACHED of openat2(2), Linux 5.12: it fails with EAGAIN where a
// disk would have to be asked for the name.
const resolveCached = 0x20

// Open opens a file whose name the system has in memory, for reading, and without noting
// when that was: a note has to be written. That is for the file's owner alone (else EPERM).
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

// Local reports whether a folder is on a file system that opens a file whose name is in
// memory without asking anybody, and tells what of it is in memory. Those of networks, and
// those that are programs (FUSE), ask; tmpfs does not tell.
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
