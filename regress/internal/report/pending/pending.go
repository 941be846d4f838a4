// Package pending writes a report that appears at its path once it is complete. Until then, and if the
// run breaks off, an earlier file stays.
//
// The package knows no report.
package pending

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"

	"muster/internal/readable"
	"muster/internal/realpath"
	"muster/regress/internal/fault"
)

// A File is a report that is not complete yet. It may keep parts of the report in an unnamed file in
// the same folder.
type File struct {
	what    string // the flag of the report, for errors
	path    string // as the user named it, for errors
	at      string // the file that path leads to
	body    *os.File
	w       *bufio.Writer
	written int64
}

// A Stretch is a part of the kept text.
type Stretch struct{ From, To int64 }

// Size returns its length in bytes.
func (s Stretch) Size() int64 { return s.To - s.From }

// New checks before the run that it can make a file at the path. what is the flag of the report, for
// errors.
func New(what, path string) (*File, error) {
	// a rename would replace a device or a pipe by a file
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.Inputf("%s: %s is not a regular file", what, readable.Line(path))
	}
	at, err := realpath.Of(path)
	if err != nil {
		return nil, fault.Inputf("%s: %w", what, err)
	}
	body, err := createBeside(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Inputf("%s: %w", what, err)
	}
	if err != nil {
		return nil, fault.Environmentf("%s: %w", what, err)
	}
	if err := os.Remove(body.Name()); err != nil {
		return nil, errors.Join(fault.Environmentf("%s: %w", what, err), body.Close())
	}
	return &File{what: what, path: path, at: at, body: body, w: bufio.NewWriter(body)}, nil
}

// Keep keeps a part of the report.
func (f *File) Keep(text string) (Stretch, error) {
	s := Stretch{f.written, f.written + int64(len(text))}
	f.written = s.To
	_, err := f.w.WriteString(text)
	return s, f.failed(err)
}

// failed returns an error with the operation and the user's path. It adds that nothing is lost.
func (f *File) failed(err error) error {
	if err == nil {
		return nil
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return fault.Environmentf("%s %s cannot be written: %w: what was there is as it was", f.what, readable.Line(f.path), err)
}

// Copy writes the kept text. Only the function that Replace calls may call it.
func (f *File) Copy(w io.Writer, s Stretch) error {
	_, err := io.Copy(w, io.NewSectionReader(f.body, s.From, s.Size()))
	return err
}

// Text returns the kept text. Only the function that Replace calls may call it.
func (f *File) Text(s Stretch) (string, error) {
	b := make([]byte, s.Size())
	_, err := f.body.ReadAt(b, s.From)
	return string(b), err
}

// Replace writes the file at the path, whole or not at all. write writes its content.
func (f *File) Replace(write func(io.Writer) error) error {
	if err := f.w.Flush(); err != nil {
		return f.failed(err)
	}
	whole, err := createBeside(f.at)
	if err != nil {
		return f.failed(err)
	}
	w := bufio.NewWriterSize(whole, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, whole.Close()); err == nil {
		err = os.Rename(whole.Name(), f.at)
	}
	if err != nil {
		return errors.Join(f.failed(err), os.Remove(whole.Name()))
	}
	return nil
}

// Close discards the kept parts.
func (f *File) Close() error { return f.body.Close() }

// createBeside creates a temporary file in the folder of a path. Unlike os.CreateTemp it leaves
// the permissions to the umask, because the file may be renamed to that path for others to
// read.
func createBeside(path string) (*os.File, error) {
	for {
		made, err := os.OpenFile(path+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return made, err
		}
	}
}
