//go:build linux && !amd64 && !arm64

package lane

import "syscall"

// SendNow writes to a socket as much as there is room for. Some architectures lack a system
// call for that.
func SendNow(fd int, b []byte) (int, error) {
	return syscall.SendmsgN(fd, b, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
}
