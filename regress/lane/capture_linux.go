package lane

import (
	"syscall"
	"time"
)

// streamFile is the file that receives one of the streams. A file costs far less than a pipe
// with a reader. With O_APPEND several writers share it as they would a pipe.
//
// It is opened anew for each case: all that a case does to its descriptor (flags, locks,
// leases) ends with it. The file itself is reused if the case did not touch it.
type streamFile struct {
	path        path
	fd          int
	stat        syscall.Stat_t // at the last readStat
	statIsFinal bool           // stat was read after the case
	madeAt      int64          // ns: ctime of the new file
	moved       bool           // into the outbox
}

// open opens the file, and makes it if it does not exist.
func (c *streamFile) open() (err error) {
	c.fd, err = c.path.open(syscall.O_RDWR|syscall.O_CREAT|syscall.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	return c.path.fail("open", err)
}

// create makes a new file.
func (c *streamFile) create() error {
	err := c.open()
	if err == nil {
		err = c.readStat()
	}
	c.madeAt = c.stat.Ctim.Nano()
	return err
}

// readStat reads what the file is like now.
func (c *streamFile) readStat() error { return c.path.fail("look at", syscall.Fstat(c.fd, &c.stat)) }

func (c *streamFile) size() int64 {
	if c.readStat() != nil {
		return 0
	}
	return c.stat.Size
}

// isUntouched reports whether the case, which began then, left the file alone. Writing to it,
// its mode, links and attributes all move ctime. If the file was made just before the case,
// ctime may have moved too little to show.
func (c *streamFile) isUntouched(began time.Time) bool {
	return c.stat.Size == 0 && c.stat.Ctim.Nano() == c.madeAt && c.madeAt < began.Add(-clockLagMax).UnixNano()
}

// renew prepares the stream for the next case. It closes the open file first, because somebody
// may hold a lease with it.
func (c *streamFile) renew(began time.Time) error {
	var err error
	if !c.statIsFinal { // the machine failed during the case
		err = c.readStat()
	}
	c.statIsFinal = false
	closeFD(c.fd)
	c.fd = -1
	switch {
	case err != nil:
		return err
	case c.moved:
		c.moved = false
	case c.isUntouched(began):
		return c.open()
	default:
		if err := c.path.unlink(); err != nil && err != syscall.ENOENT {
			return c.path.fail("remove", err)
		}
	}
	return c.create()
}

// collectStream collects what was written to a stream, up to the output limit.
func (h *helper) collectStream(c *streamFile, d *Answer, to *Output) (err error) {
	size := c.size()
	c.statIsFinal = true
	to.Size = h.allowBytes(d, size)
	if to.Size <= h.inlineLeft {
		if to.Size > 0 {
			to.Content, err = h.readInline(c.fd, to.Size, &c.path)
		}
		return err
	}
	if to.Size < size {
		if err := syscall.Ftruncate(c.fd, to.Size); err != nil {
			return c.path.fail("cut", err)
		}
	}
	to.Stored, c.moved = h.nextStoredName(), true
	return h.moveOut(&c.path, to.Stored)
}
