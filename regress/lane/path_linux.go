package lane

import (
	"syscall"
	"unsafe"
)

// path is a path as the kernel takes it, in memory that is reused. A helper grows by the
// garbage of its cases (see memory).
type path struct{ bytes []byte }

// set joins parts to the path. It returns p, for use in a call.
func (p *path) set(parts ...string) *path {
	p.bytes = p.bytes[:0]
	for _, s := range parts {
		p.bytes = append(p.bytes, s...)
	}
	p.bytes = append(p.bytes, 0)
	return p
}

// String returns a copy, for messages.
func (p *path) String() string { return string(p.bytes[:len(p.bytes)-1]) }

// fail returns an error with the operation and the path, or nil.
func (p *path) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return fail(op, p.String(), err)
}

func (p *path) open(flags int, mode uint32) (int, error) {
	for {
		fd, _, e := syscall.RawSyscall6(syscall.SYS_OPENAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))),
			uintptr(flags|syscall.O_CLOEXEC), uintptr(mode), 0, 0)
		switch e {
		case 0:
			return int(fd), nil
		case syscall.EINTR:
			continue
		}
		return -1, e
	}
}

func (p *path) unlink() error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_UNLINKAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), 0); e != 0 {
		return e
	}
	return nil
}

func (p *path) mkdir(mode uint32) error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_MKDIRAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), uintptr(mode)); e != 0 {
		return e
	}
	return nil
}

func (p *path) rmdir() error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_UNLINKAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), removeDir); e != 0 {
		return e
	}
	return nil
}

func (p *path) watch(inotify int, events uint32) (wd int32, err error) {
	n, _, e := syscall.RawSyscall(syscall.SYS_INOTIFY_ADD_WATCH, uintptr(inotify), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), uintptr(events))
	if e != 0 {
		return 0, e
	}
	return int32(n), nil
}

func (p *path) chmod(mode uint32) error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_FCHMODAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))), uintptr(mode)); e != 0 {
		return e
	}
	return nil
}

// atCwd makes a system call resolve paths from the working folder.
const atCwd = -0x64

func cwd() uintptr {
	at := atCwd
	return uintptr(at)
}
