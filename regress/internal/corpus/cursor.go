package corpus

import (
	"context"
	"errors"
	"io"
)

// windowBytes is the size of one read of an archive. The end of a content, its padding and the next
// header are adjacent. Data between two headers need not be read.
const windowBytes = 4096

// cursor reads a file of known size for archive/tar, which skips contents by Seek. It knows its
// position, which right after Next is the start of the content. Only one goroutine may use it.
type cursor struct {
	ctx  context.Context // archive/tar passes none, and one Next may read for long
	src  io.ReaderAt
	size int64
	pos  int64

	window [windowBytes]byte
	start  int64 // of the window in the file
	filled int
	err    error // the first that was not the end of the file
}

func (c *cursor) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.pos >= c.size {
		return 0, io.EOF
	}
	if len(p) >= windowBytes {
		n, err := c.readAt(p[:min(int64(len(p)), c.size-c.pos)], c.pos)
		c.pos += int64(n)
		return n, err
	}
	if c.pos < c.start || c.pos >= c.start+int64(c.filled) {
		n, err := c.readAt(c.window[:min(windowBytes, c.size-c.pos)], c.pos)
		c.start, c.filled = c.pos, n
		if n == 0 {
			return 0, err
		}
	}
	n := copy(p, c.window[c.pos-c.start:c.filled])
	c.pos += int64(n)
	return n, nil
}

// readAt reads all of p, or returns why it cannot: the file may have become shorter.
func (c *cursor) readAt(p []byte, at int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, c.fail(err)
	}
	n, err := c.src.ReadAt(p, at)
	if n == len(p) {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, c.fail(err)
}

func (c *cursor) fail(err error) error {
	if c.err == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		c.err = err
	}
	return err
}

// Seek moves the cursor, possibly beyond the end, as in a file.
func (c *cursor) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.pos
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start, or a size that overflows")
	}
	c.pos = offset
	return offset, nil
}
