package report

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"

	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// A target is the path at which a report appears once it is complete. Until then, and if the
// run breaks off, an earlier file stays. The target may keep parts of the report in an unnamed
// file in the same folder.
type target struct {
	what    string // the flag of the report, for errors
	path    string
	body    *os.File
	w       *bufio.Writer
	written int64
}

// A stretch is a part of the kept text.
type stretch struct{ from, to int64 }

func (s stretch) size() int64 { return s.to - s.from }

// newTarget checks before the run that it can make a file there.
func newTarget(what, path string) (*target, error) {
	// a rename would replace a device or a pipe by a file
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.Inputf("%s: %s is not a regular file", what, readable.Line(path))
	}
	body, err := createBeside(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Inputf("%s: %w", what, err)
	}
	if err != nil {
		return nil, fault.Environmentf("%s: %w", what, err)
	}
	if err := os.Remove(body.Name()); err != nil {
		return nil, errors.Join(fault.Environmentf("%s: %w", what, err), body.Close())
	}
	return &target{what: what, path: path, body: body, w: bufio.NewWriter(body)}, nil
}

func (t *target) keep(text string) (stretch, error) {
	s := stretch{t.written, t.written + int64(len(text))}
	t.written = s.to
	_, err := t.w.WriteString(text)
	return s, t.failed(err)
}

// failed returns an error with the operation and the user's path. It adds that nothing is lost.
func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return fault.Environmentf("%s %s cannot be written: %w: what was there is as it was", t.what, readable.Line(t.path), err)
}

// copy writes the kept text. Only the function that replace calls may call it.
func (t *target) copy(w io.Writer, s stretch) error {
	_, err := io.Copy(w, io.NewSectionReader(t.body, s.from, s.size()))
	return err
}

// text returns the kept text. Only the function that replace calls may call it.
func (t *target) text(s stretch) (string, error) {
	b := make([]byte, s.size())
	_, err := t.body.ReadAt(b, s.from)
	return string(b), err
}

// replace writes the file at the path, whole or not at all. write writes its content.
func (t *target) replace(write func(io.Writer) error) error {
	if err := t.w.Flush(); err != nil {
		return t.failed(err)
	}
	whole, err := createBeside(t.path)
	if err != nil {
		return t.failed(err)
	}
	w := bufio.NewWriterSize(whole, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, whole.Close()); err == nil {
		err = os.Rename(whole.Name(), t.path)
	}
	if err != nil {
		return errors.Join(t.failed(err), os.Remove(whole.Name()))
	}
	return nil
}

func (t *target) close() error { return t.body.Close() }

// createBeside creates a temporary file in the folder of a path. Unlike os.CreateTemp it leaves
// the permissions to the umask, because the file may be renamed to that path for others to
// read.
func createBeside(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
