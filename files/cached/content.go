package cached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"muster/fileio"
)

// figures count reads.
type figures struct{ hits, misses, hitBytes, missBytes atomic.Int64 }

// content reads a file piece by piece, each from its copy. It makes a missing copy first. If copies
// fail, the rest comes from the origin.
type content struct {
	fileio.File
	fetcher *fetcher
	figures *figures
	max     int64 // larger files have a copy of their first piece only

	index   int64
	open    openCopy // of the piece with this index; without a file if none is open
	fetched bool     // open was made for this read
	origin  *source  // nil = not open
	direct  bool     // the rest comes from the origin
	out     counter
}

// CopyTo implements fileio.Content.
func (c *content) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	for begun := false; n > 0; {
		sent, err := c.copySome(ctx, w, offset, n)
		begun = begun || sent > 0
		switch {
		case errors.Is(err, fs.ErrNotExist) && !begun:
			return errReplaced
		case errors.Is(err, fileio.ErrBusy) && begun:
			return errors.New(err.Error()) // ErrBusy would mean that w has no byte
		case err != nil:
			return err
		}
		offset, n = offset+sent, n-sent
	}
	return nil
}

// copySome copies some of n bytes, possibly none.
func (c *content) copySome(ctx context.Context, w io.Writer, offset, n int64) (sent int64, err error) {
	if !c.direct {
		if err := c.use(ctx, offset/pieceSize); err != nil {
			return 0, err
		}
	}
	count := &c.figures.missBytes
	defer func() { count.Add(sent) }()
	if c.direct {
		if err := c.openOrigin(ctx); err != nil {
			return 0, err
		}
		stop := context.AfterFunc(ctx, c.origin.end)
		sent, err, _ = c.out.copy(c.origin.ctx, c.origin.File, w, offset, n)
		if !stop() {
			err = cmp.Or(ctx.Err(), err)
			c.origin.close()
			c.origin = nil
		}
		return sent, err
	}
	if !c.fetched {
		count = &c.figures.hitBytes
	}
	offset -= c.index * pieceSize
	sent, err, ours := c.out.copy(ctx, c.open.file, w, offset, min(n, c.open.length(c.index)-offset))
	if ours && ctx.Err() == nil {
		c.direct, err = true, nil
	}
	return sent, err
}

// use opens the copy of a piece, or makes it first. Without a copy, the rest comes from the origin.
func (c *content) use(ctx context.Context, index int64) error {
	if c.open.file != nil && c.index == index {
		return nil
	}
	c.direct = true
	c.closeCopy()
	if index > 0 && c.Size > c.max {
		return nil
	}
	if c.tryOpen(ctx, index) {
		c.fetched = false
		return nil
	}
	if index == 0 || c.fetcher.copies.isPaused() { // only Get makes first copies: drop knows its fetches
		return nil
	}
	_, err := c.fetcher.share(ctx, piece{c.Name, index, c.Tag}, &c.origin)
	if err == nil && c.tryOpen(ctx, index) {
		c.fetched = true
	}
	if err == errAgain {
		err = nil
	}
	return err
}

func (c *content) tryOpen(ctx context.Context, index int64) bool {
	open, err := c.fetcher.copies.open(ctx, c.Name, index)
	if err != nil {
		return false
	}
	if open.Tag != c.Tag || open.Size != c.Size {
		closeFile(open.file)
		return false
	}
	c.open, c.index, c.direct = open, index, false
	return true
}

func (c *content) openOrigin(ctx context.Context) (err error) {
	if c.origin != nil {
		return nil
	}
	if c.origin, err = c.fetcher.open(ctx, c.Name); err != nil {
		return err
	}
	if c.origin.Tag != c.Tag {
		c.origin.close()
		c.origin, err = nil, errReplaced
	}
	return err
}

// errReplaced is the error of a file that is not the one that Get opened.
var errReplaced = fmt.Errorf("the file was replaced while it was read: %w", fileio.ErrBusy)

func (c *content) closeCopy() {
	closeFile(c.open.file)
	c.open = openCopy{}
}

// Close implements fileio.Content.
func (c *content) Close() error {
	c.closeCopy()
	c.origin.close()
	return nil
}

// counter counts what a writer accepts.
type counter struct {
	w   io.Writer
	n   int64
	err error
}

// copy copies a part of a file. ours reports whether err is not one
// of the writer.
func (c *counter) copy(ctx context.Context, from *fileio.File, w io.Writer, offset, n int64) (sent int64, err error, ours bool) {
	*c = counter{w: w}
	var to io.Writer = c
	if _, ok := w.(io.ReaderFrom); ok {
		to = sender{c}
	}
	err = from.CopyTo(ctx, to, offset, n)
	return c.n, err, err != nil && c.err == nil
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (n int, err error) {
	n, c.err = c.w.Write(p)
	c.n += int64(n)
	return n, c.err
}

// sender is a counter of a writer that may send files straight from the system's memory.
type sender struct{ *counter }

// ReadFrom implements io.ReaderFrom.
func (s sender) ReadFrom(r io.Reader) (n int64, err error) {
	n, s.err = s.w.(io.ReaderFrom).ReadFrom(r)
	s.n += n
	return n, s.err
}
