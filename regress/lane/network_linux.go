package lane

import (
	"syscall"
	"unsafe"
)

// raiseLoopback enables the loopback of this process's network namespace. It is down in a new
// namespace, and a case that connects to a server of its own would fail.
func raiseLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail("bring up", "the loopback", err)
	}
	defer syscall.Close(fd)
	request := struct { // struct ifreq
		name  [16]byte
		flags uint16
		_     [22]byte
	}{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP}
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); e != 0 {
		return fail("bring up", "the loopback", e)
	}
	return nil
}
