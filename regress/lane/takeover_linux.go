package lane

import (
	"bytes"
	"syscall"
)

// init makes the process a lane helper when it was started as one. It runs
// before "os" and everything above it has been initialised (see the package
// comment), so all that it calls must get along with system calls alone.
func init() {
	if !called() {
		return
	}
	syscall.Exit(serve())
}

// called reports whether the first argument is Argument. os.Args is not there
// yet.
func called() bool {
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	var buf [4096]byte // argv[0] is a path
	n, err := syscall.Read(fd, buf[:])
	if err != nil || n <= 0 {
		return false
	}
	_, rest, _ := bytes.Cut(buf[:n], []byte{0})
	first, _, ended := bytes.Cut(rest, []byte{0})
	return ended && string(first) == Argument
}

// serve answers the messages of one parent until it closes the socket, and
// returns the process's exit status.
func serve() int {
	syscall.CloseOnExec(SocketFD)
	syscall.CloseOnExec(CorpusFD)
	var (
		c     conversation
		setup Setup
	)
	payload, err := c.read()
	if err == nil {
		err = setup.Decode(payload)
	}
	if err != nil {
		return 1
	}
	h, err := prepare(&setup)
	if err != nil {
		c.send((&Ready{Fault: err.Error()}).AppendFrame(nil))
		return 1
	}
	if err := c.send((&Ready{Floor: shed()}).AppendFrame(nil)); err != nil {
		return 1
	}
	return c.answer(h)
}

// conversation is the helper's side of the socket. Its buffers are reused.
type conversation struct{ in, out []byte }

func (c *conversation) answer(h *helper) int {
	var job Job
	for {
		payload, err := c.read()
		if err == errClosed {
			return 0
		}
		if err != nil || job.Decode(payload) != nil {
			return 1
		}
		done := h.do(&job)
		c.out = done.AppendFrame(c.out)
		if c.send(c.out) != nil {
			return 1
		}
		if h.settle() != nil {
			return 1 // the parent starts another lane
		}
	}
}

func (c *conversation) read() ([]byte, error) {
	var header [headerBytes]byte
	if err := readFull(header[:]); err != nil {
		return nil, err
	}
	n, err := FrameSize(header)
	if err != nil {
		return nil, err
	}
	if cap(c.in) < n {
		c.in = make([]byte, n)
	}
	c.in = c.in[:n]
	return c.in, readFull(c.in)
}

func readFull(b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Read(SocketFD, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return errClosed
		}
		b = b[n:]
	}
	return nil
}

func (c *conversation) send(b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(SocketFD, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
