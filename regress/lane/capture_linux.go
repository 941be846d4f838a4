package lane

import "syscall"

// capture is the file that takes one of the streams. A file costs far less than
// a pipe and somebody to empty it. O_APPEND lets several writers share it as
// they would a pipe.
//
// The file is used again while nothing large was written, but opened anew for
// each case: whatever one does to its descriptor (flags, locks) goes with it.
type capture struct {
	path  path
	fd    int
	moved bool // into the outbox
}

func (c *capture) open() (err error) {
	c.fd, err = c.path.open(syscall.O_RDWR|syscall.O_CREAT|syscall.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	return c.path.fail("open", err)
}

func (c *capture) size() int64 {
	var st syscall.Stat_t
	if syscall.Fstat(c.fd, &st) != nil {
		return 0
	}
	return st.Size
}

// renew makes the stream ready for the next case.
func (c *capture) renew() error {
	defer syscall.Close(c.fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(c.fd, &st); err != nil {
		return c.path.fail("look at", err)
	}
	switch {
	case c.moved:
		c.moved = false
	case st.Mode != syscall.S_IFREG|0o600 || st.Nlink != 1: // the case did something odd to it
		if err := c.path.unlink(); err != nil && err != syscall.ENOENT {
			return c.path.fail("remove", err)
		}
	case st.Size > 0:
		if err := syscall.Ftruncate(c.fd, 0); err != nil {
			return c.path.fail("empty", err)
		}
	}
	return c.open()
}

// keepStream takes what was written to a stream, as far as the output limit
// allows.
func (h *helper) keepStream(c *capture, d *Done, to *Left) (err error) {
	size := c.size()
	to.Size = h.allow(d, size)
	if to.Size <= h.inline {
		if to.Size > 0 {
			to.Content, err = h.quote(c.fd, to.Size, &c.path)
		}
		return err
	}
	if to.Size < size {
		if err := syscall.Ftruncate(c.fd, to.Size); err != nil {
			return c.path.fail("cut", err)
		}
	}
	to.Stored, c.moved = h.nextStored(), true
	return h.move(&c.path, to.Stored)
}
