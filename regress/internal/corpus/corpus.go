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
	Name   string // cleaned path below the root, raw bytes
	Target string // not empty: a symlink to this folder, relative to the link's own; always given, never a case
	Exec   bool   // the owner's executable bit
	Size   int64  // of the content, in bytes
	Offset int64  // where the content starts in File(), when the corpus is an archive
	Path   string // path below Root() that holds the content, when the corpus is a folder; links are resolved
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
	case e.Target != "":
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
		switch {
		case e.Target != "":
			links = append(links, e)
		case r.headers.Match(e.Name):
			c.given = append(c.given, e)
		case r.context.Match(e.Name):
			c.given = append(c.given, e)
			c.cases = append(c.cases, e)
		default:
			c.cases = append(c.cases, e)
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
