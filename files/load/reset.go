package load

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// reset reports whether an error is that of a connection whose other end is gone.
func reset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
