package load

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// isReset reports whether an error means that the other end closed the connection.
func isReset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
