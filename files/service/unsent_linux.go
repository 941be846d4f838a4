package service

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// unsentMax is how many unsent bytes the system buffers for a connection. Without a limit it
// buffers megabytes, and a client that reads nothing would look like one that reads.
const unsentMax = 128 << 10

// limitUnsent sets unsentMax for a connection. Accepted connections do not inherit it from the
// listener, because it uses MPTCP.
func limitUnsent(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentMax)
	})
}
