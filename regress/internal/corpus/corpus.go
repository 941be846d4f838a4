// Package corpus turns a tar archive (plain, gzip, zstd, xz), a folder or a stream into ordered
// cases with stable names. It also lists the other files that every case is given: headers,
// context, links to folders.
//
// A plain archive is indexed in place, header by header, and never read whole. Any other archive is
// unpacked once into a bounded spool. Nothing is read outside the input, and nothing is written
// outside the spool: an archive is hostile until every entry has been checked.
//
// The package must not place files for a case, choose or order the cases of a run, or run anything
// except the xz program.
package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Entry is one file of the corpus, or one link to a folder.
type Entry struct {
	Name string // cleaned path below the root, raw bytes
	// Path is that of the content below Root(), with links resolved, or "" in an archive. Of a link it is
	// that of the folder, relative to the link's own.
	Path   string
	Size   int64 // of the content, in bytes
	Offset int64 // where the content starts in File(), when the corpus is an archive
	Exec   bool  // the owner's executable bit
	IsLink bool  // a symlink to a folder: always given, never a case

	isCase, isGiven bool // context is both
}

// Target returns the folder that a link leads to, or "" for a file.
func (e *Entry) Target() string {
	if e.IsLink {
		return e.Path
	}
	return ""
}

// Corpus is an open corpus. Any number of goroutines may call its methods. Close must be the last
// call.
type Corpus struct {
	label  string // its name in messages
	cases  []Entry
	given  []Entry
	file   *os.File // the tar, for an archive
	folder *os.Root // for a folder
	root   string
	source *source // the archive's file; nil for a folder or a stream

	spoolDir string  // for digests and other data that can be made again; "" = nowhere
	stamps   []stamp // of a folder
}

// Cases returns the entries that are cases: in an archive by position, in a folder by name. If a
// name occurs twice, the last entry counts. Do not change the slice.
func (c *Corpus) Cases() []Entry { return c.cases }

// Given returns what every case sees: headers and context in corpus order, then links to folders.
// Cases has the context too. Do not change the slice.
func (c *Corpus) Given() []Entry { return c.given }

// File returns the uncompressed tar that Entry.Offset refers to, open until Close and safe for
// concurrent ReadAt. It is nil for a folder. It has no name if it was spooled from a stream.
func (c *Corpus) File() *os.File { return c.file }

// Root returns the absolute path of a folder corpus, or "".
func (c *Corpus) Root() string { return c.root }

// Open returns the content of a regular entry: exactly Size bytes. If the corpus has fewer or more,
// the reader returns an error of class Input about the change. The caller closes the reader.
func (c *Corpus) Open(e Entry) (io.ReadCloser, error) {
	switch {
	case e.IsLink:
		return nil, fault.Inputf("%s: %s is a link to a folder and has no content", c.label, name.Print(e.Name))
	case c.folder == nil:
		return &exactReader{label: c.label, entry: e.Name, r: io.NewSectionReader(c.file, e.Offset, e.Size), left: e.Size}, nil
	}
	// Not blocking: the file may have become a named pipe since the listing.
	f, err := c.folder.OpenFile(e.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, c.unreadable(e, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fault.Inputf("%s changed while it ran: %s is no longer a file; run again when nothing writes there", c.label, name.Print(e.Path))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &exactReader{label: c.label, entry: e.Name, r: f, close: f, left: e.Size}, nil
}

func (c *Corpus) unreadable(e Entry, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("%s changed while it ran: %s is gone; run again when nothing writes there", c.label, name.Print(e.Path))
	}
	return readError(c.label, e.Path, err)
}

// Close closes the archive or the folder. The spooled copy of a file remains for the next run. That
// of a stream is removed.
func (c *Corpus) Close() error {
	var errs []error
	if c.file != nil {
		errs = append(errs, c.file.Close())
	}
	if c.folder != nil {
		errs = append(errs, c.folder.Close())
	}
	return errors.Join(errs...)
}

// assignRoles sorts the entries into cases and given. It reuses the slice of the entries.
func (c *Corpus) assignRoles(entries []Entry, r roles) {
	var links []Entry
	c.cases = entries[:0]
	for _, e := range entries {
		e.isCase = !e.IsLink && !r.headers.Match(e.Name)
		e.isGiven = !e.isCase || r.context.Match(e.Name)
		if e.isCase {
			c.cases = append(c.cases, e)
		}
		switch {
		case e.IsLink:
			links = append(links, e)
		case e.isGiven:
			c.given = append(c.given, e)
		}
	}
	c.given = append(c.given, links...)
}

// An exactReader returns the promised number of bytes or an error. A short read of a source would
// otherwise become a verdict about the tool.
type exactReader struct {
	label, entry string
	r            io.Reader
	close        io.Closer // nil: nothing to close
	left         int64
}

func (x *exactReader) Read(p []byte) (int, error) {
	if x.left == 0 {
		return 0, x.atEnd()
	}
	n, err := x.r.Read(p[:min(int64(len(p)), x.left)])
	x.left -= int64(n)
	if err == io.EOF && x.left > 0 {
		return n, x.changedError()
	}
	if err == io.EOF {
		err = nil // the next call returns it, after the check for more
	}
	return n, err
}

func (x *exactReader) atEnd() error {
	if x.close == nil {
		return io.EOF // a section of the archive ends where it must
	}
	var more [1]byte
	if n, err := io.ReadFull(x.r, more[:]); n > 0 {
		return x.changedError()
	} else if err != io.EOF {
		return err
	}
	return io.EOF
}

func (x *exactReader) changedError() error {
	return fault.Inputf("%s changed while it ran: %s has another size; run again when nothing writes there", x.label, name.Print(x.entry))
}

func (x *exactReader) Close() error {
	if x.close == nil {
		return nil
	}
	return x.close.Close()
}

// stopError returns an error if the context has ended, or nil. It has no class: that of the
// context's error counts.
func stopError(ctx context.Context, label string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading %s was stopped: %w", label, err)
	}
	return nil
}

// indexTar reads a tar's headers, and no contents.
func (p *opener) indexTar(ctx context.Context, f *os.File) (*tree, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	s := newScan(ctx, p.meter(), f, info.Size())
	t := newTree(p.label, p.Limits)
	for {
		m, err := s.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = addMember(t, m, s.cursor.pos)
		}
		if err != nil {
			return nil, err
		}
	}
	rest, err := s.trailingBytes()
	switch {
	case err != nil:
		return nil, err
	case s.open:
		p.Warn(s.cutWarning())
	case rest > 0:
		p.Warn(s.trailingWarning(rest))
	}
	return t, nil
}

// checkClaims reads the headers at the beginning of a tar that is being unpacked. It returns an
// error if they exceed a limit. A bomb claims its size in its first block. Unpacking it first would
// fill the disk.
func (p *opener) checkClaims(ctx context.Context, f *os.File, written int64) error {
	s := newScan(ctx, p.meter(), f, written)
	for {
		m, err := s.next()
		switch {
		case s.beyond != nil:
			return s.beyond
		case err != nil && s.end+m.stored > p.Limits.TotalBytes:
			return unpacksToMore(p.label, p.Limits)
		case err != nil:
			return nil // the rest is not there yet, or damaged, which indexTar reports
		}
	}
}

func addMember(t *tree, m member, offset int64) error {
	switch m.kind {
	case regular:
		t.add(Entry{Name: m.name, Exec: m.exec, Size: m.size, Offset: offset})
	case folder:
		t.addFolder(m.name)
	case symlink:
		t.add(Entry{Name: m.name, Path: m.target, IsLink: true})
	case hardlink:
		return t.addHardLink(m.name, m.target)
	}
	return nil
}

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
