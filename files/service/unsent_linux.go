package service

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unsentMax is how many bytes the system takes of a connection that it has not sent yet. Without
// a limit it takes megabytes, and a client that takes none of them would look like one that does.
const unsentMax = 128 << 10

// limitUnsent sets unsentMax for a connection. An accepted one does not have it from its
// listener, which is one of MPTCP.
func limitUnsent(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentMax)
	})
}
