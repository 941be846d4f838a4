package lane

import (
	"syscall"
	"unsafe"
)

// What follows is for the parent, at its end of the link: system calls that are over
// at once, so that the runtime need not be told of them. Told, it would start threads
// when the machine is busy, and hand work between them.

// ReadNow reads what is in memory, or in a pipe that does not block.
func ReadNow(fd int, b []byte) (int, error) { return read(fd, b) }

// SendNow writes to a socket as much as there is room for.
func SendNow(fd int, b []byte) (int, error) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}
