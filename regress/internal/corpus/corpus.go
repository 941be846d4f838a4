// Package corpus turns a tar archive (plain, gzip, zstd, xz), a folder or a
// stream into ordered cases with stable names, and says what every case is
// given besides its own source: headers, context, links to folders.
//
// A plain archive is indexed in place, header by header, and never read whole;
// what cannot be addressed in place is unpacked once into a spool, bounded.
// Whatever the input holds, nothing is read outside it and nothing is written
// outside the spool: an archive is hostile until every entry has been checked.
//
// The package must not place files for a case, choose or order the cases of a
// run, or run anything but the xz program.
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

// Corpus is an opened corpus. Its methods may be called from any number of
// goroutines, but for Close, which must be the last call.
type Corpus struct {
	label  string // how messages call it
	cases  []Entry
	given  []Entry
	file   *os.File // the tar, for an archive
	folder *os.Root // for a folder
	root   string
	source *source // the archive's file; nil for a folder or a stream

	spoolDir string  // for what can be made again; "" = nowhere
	stamps   []stamp // of a folder
}

// Cases returns the entries that are cases: in an archive by the position of
// the entry that counts, in a folder sorted by name. The slice is the
// corpus's own and must not be changed.
func (c *Corpus) Cases() []Entry { return c.cases }

// Given returns what every case sees: headers and context in corpus order,
// then links to folders. Context is among Cases too. The slice is the corpus's
// own and must not be changed.
func (c *Corpus) Given() []Entry { return c.given }

// File returns the uncompressed tar that Entry.Offset refers to, open for
// reading until Close and fit for concurrent ReadAt; nil for a folder. It has
// no name when it was spooled from a stream.
func (c *Corpus) File() *os.File { return c.file }

// Root returns the absolute path of a folder corpus, else "".
func (c *Corpus) Root() string { return c.root }

// Open returns the content of a regular entry: exactly Size bytes. When the
// corpus turns out to hold fewer or more, the reader's error is of class Input
// and says that it changed. The caller closes the reader.
func (c *Corpus) Open(e Entry) (io.ReadCloser, error) {
	switch {
	case e.Target != "":
		return nil, fault.Inputf("%s: %s is a link to a folder and has no content", c.label, name.Print(e.Name))
	case c.folder == nil:
		return &exact{label: c.label, entry: e.Name, r: io.NewSectionReader(c.file, e.Offset, e.Size), left: e.Size}, nil
	}
	// Not blocking: the file may have become a named pipe since it was listed.
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
	return &exact{label: c.label, entry: e.Name, r: f, close: f, left: e.Size}, nil
}

func (c *Corpus) unreadable(e Entry, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("%s changed while it ran: %s is gone; run again when nothing writes there", c.label, name.Print(e.Path))
	}
	return cannotRead(c.label, e.Path, err)
}

// Close closes the archive or the folder. What was spooled from a file stays
// for the next run; what was spooled from a stream is gone.
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

// share sorts the entries into cases and given. The cases take the entries' place.
func (c *Corpus) share(entries []Entry, r roles) {
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

// exact gives the promised number of bytes or an error: a short read of a
// source would otherwise be a verdict about the tool.
type exact struct {
	label, entry string
	r            io.Reader
	close        io.Closer // nil: nothing to close
	left         int64
}

func (x *exact) Read(p []byte) (int, error) {
	if x.left == 0 {
		return 0, x.atEnd()
	}
	n, err := x.r.Read(p[:min(int64(len(p)), x.left)])
	x.left -= int64(n)
	if err == io.EOF && x.left > 0 {
		return n, x.changed()
	}
	if err == io.EOF {
		err = nil // said by the next call, after the check for more
	}
	return n, err
}

func (x *exact) atEnd() error {
	if x.close == nil {
		return io.EOF // a section of the archive ends where it must
	}
	var more [1]byte
	if n, err := io.ReadFull(x.r, more[:]); n > 0 {
		return x.changed()
	} else if err != io.EOF {
		return err
	}
	return io.EOF
}

func (x *exact) changed() error {
	return fault.Inputf("%s changed while it ran: %s has another size; run again when nothing writes there", x.label, name.Print(x.entry))
}

func (x *exact) Close() error {
	if x.close == nil {
		return nil
	}
	return x.close.Close()
}

// done returns an error when the context has ended, or nil. It is not
// classified: the context's error is.
func done(ctx context.Context, label string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("reading %s was stopped: %w", label, err)
	}
	return nil
}
