package lane

import (
	"syscall"
	"time"
)

// capture is the file that takes one of the streams. A file costs far less than
// a pipe and somebody to empty it. O_APPEND lets several writers share it as
// they would a pipe.
//
// The file is used again while nothing large was written. It is opened anew for
// each case that used it: whatever one does to its descriptor (flags, locks) goes
// with it.
type capture struct {
	path  path
	fd    int
	now   syscall.Stat_t // as it was last looked at
	final bool           // that was after the case
	ctime int64          // ns, when it was opened
	moved bool           // into the outbox
}

const captureFlags = syscall.O_RDWR | syscall.O_APPEND

func (c *capture) open() (err error) {
	if c.fd, err = c.path.open(captureFlags|syscall.O_CREAT|syscall.O_NOFOLLOW, 0o600); err != nil {
		return c.path.fail("open", err)
	}
	err = c.look()
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

// asOpened reports whether the case, which began then, left file and descriptor
// as they were. Whatever it did to the file itself moved ctime; in one that was
// opened just before, perhaps too little to show.
func (c *capture) asOpened(began time.Time) bool {
	if c.moved || c.now.Size > 0 || c.now.Nlink != 1 || c.now.Ctim.Nano() != c.ctime || c.ctime >= began.Add(-jiffy).UnixNano() {
		return false
	}
	const mayBeSet = syscall.O_APPEND | syscall.O_ASYNC | syscall.O_NONBLOCK | syscall.O_DIRECT | syscall.O_NOATIME
	flags, _, e := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(c.fd), syscall.F_GETFL, 0)
	return e == 0 && flags&mayBeSet == syscall.O_APPEND
}

// renew makes the stream ready for the next case.
func (c *capture) renew(began time.Time) error {
	if !c.final { // the machine failed amid the case
		if err := c.look(); err != nil {
			return err
		}
	}
	c.final = false
	if c.asOpened(began) {
		// It may have been sought in.
		_, _, _ = syscall.RawSyscall(syscall.SYS_LSEEK, uintptr(c.fd), 0, 0)
		return nil
	}
	defer closeFD(c.fd)
	switch {
	case c.moved:
		c.moved = false
	case c.now.Mode != syscall.S_IFREG|0o600 || c.now.Nlink != 1: // the case did something odd to it
		if err := c.path.unlink(); err != nil && err != syscall.ENOENT {
			return c.path.fail("remove", err)
		}
	case c.now.Size > 0:
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
