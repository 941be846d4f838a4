//go:build amd64 || arm64

package lane

import (
	"runtime"
	"syscall"
	"unsafe"
)

// SendNow writes to a socket as much as there is room for. See ReadNow.
func SendNow(fd int, b []byte) (int, error) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func (p *path) lstat(st *syscall.Stat_t) error {
	const noFollow = 0x100 // AT_SYMLINK_NOFOLLOW
	number := uintptr(262) // SYS_NEWFSTATAT of amd64
	if runtime.GOARCH == "arm64" {
		number = 79 // SYS_FSTATAT
	}
	_, _, e := syscall.RawSyscall6(number, cwd(), uintptr(unsafe.Pointer(unsafe.SliceData(p.bytes))),
		uintptr(unsafe.Pointer(st)), noFollow, 0, 0)
	return asError(e)
}
