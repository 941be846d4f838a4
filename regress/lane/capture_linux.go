package lane

import (
	"syscall"
	"time"
)

// capture is the file that takes one of the streams. A file costs far less than
// a pipe and somebody to empty it. O_APPEND lets several writers share it as
// they would a pipe.
//
// It is opened anew for each case: whatever one does to its descriptor (flags,
// locks, leases) goes with it. The file itself is used again while nothing was done
// to it.
type capture struct {
	path  path
	fd    int
	now   syscall.Stat_t // as it was last looked at
	final bool           // that was after the case
	ctime int64          // ns, when it was made
	moved bool           // into the outbox
}

// open makes the file, or opens the one that is there.
func (c *capture) open() (err error) {
	c.fd, err = c.path.open(syscall.O_RDWR|syscall.O_CREAT|syscall.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	return c.path.fail("open", err)
}

// make makes a new file.
func (c *capture) make() error {
	err := c.open()
	if err == nil {
		err = c.look()
	}
	c.ctime = c.now.Ctim.Nano()
	return err
}

// look notes what the file is like now.
func (c *capture) look() error { return c.path.fail("look at", syscall.Fstat(c.fd, &c.now)) }

func (c *capture) size() int64 {
	if c.look() != nil {
		return 0
	}
	return c.now.Size
}

// asMade reports whether the case, which began then, did nothing to the file.
// Writing to it, its mode, links and attributes all move ctime; in one that was
// made just before, perhaps too little to show.
func (c *capture) asMade(began time.Time) bool {
	return c.now.Size == 0 && c.now.Ctim.Nano() == c.ctime && c.ctime < began.Add(-jiffy).UnixNano()
}

// renew makes the stream ready for the next case, and gives up the description of
// the file first: somebody may hold a lease with it.
func (c *capture) renew(began time.Time) error {
	var err error
	if !c.final { // the machine failed amid the case
		err = c.look()
	}
	c.final = false
	closeFD(c.fd)
	c.fd = -1
	switch {
	case err != nil:
		return err
	case c.moved:
		c.moved = false
	case c.asMade(began):
		return c.open()
	default:
		if err := c.path.unlink(); err != nil && err != syscall.ENOENT {
			return c.path.fail("remove", err)
		}
	}
	return c.make()
}

// keepStream takes what was written to a stream, as far as the output limit
// allows.
func (h *helper) keepStream(c *capture, d *Done, to *Left) (err error) {
	size := c.size()
	c.final = true
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
