//go:build amd64 || arm64

package lane

import (
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
