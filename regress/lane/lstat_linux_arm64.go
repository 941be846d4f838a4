package lane

import (
	"syscall"
	"unsafe"
)

func (p *path) lstat(st *syscall.Stat_t) error {
	const noFollow = 0x100 // AT_SYMLINK_NOFOLLOW
	_, _, e := syscall.RawSyscall6(syscall.SYS_FSTATAT, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))),
		uintptr(unsafe.Pointer(st)), noFollow, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}
