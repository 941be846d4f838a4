//go:build linux && !amd64 && !arm64

package lane

import "syscall"

// SendNow writes to a socket as much as there is room for. Some architectures lack a system
// call for that.
func SendNow(fd int, b []byte) (int, error) {
	return syscall.SendmsgN(fd, b, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
}

func (p *path) lstat(st *syscall.Stat_t) error { return syscall.Lstat(p.String(), st) }

// ipc does nothing where the calls have other numbers, or one number for all.
type ipc struct{}

func (*ipc) unshare(bool)     {}
func (*ipc) hasObjects() bool { return false }
