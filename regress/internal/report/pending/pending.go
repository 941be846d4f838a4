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

// A File is a report that is not complete yet.
type File struct {
	what string // the flag of the report, for errors
	path string // as the user named it, for errors
	at   string // the file that path leads to
}

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
	trial, err := createBeside(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Inputf("%s: %w", what, err)
	}
	if err == nil {
		err = errors.Join(trial.Close(), os.Remove(trial.Name()))
	}
	if err != nil {
		return nil, fault.Environmentf("%s: %w", what, err)
	}
	return &File{what, path, at}, nil
}

// Replace writes the file at the path, whole or not at all. write writes its content.
func (f *File) Replace(write func(io.Writer) error) error {
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

// failed returns an error with the operation and the user's path. It adds that nothing is lost.
func (f *File) failed(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return fault.Environmentf("%s %s cannot be written: %w: what was there is as it was", f.what, readable.Line(f.path), err)
}

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
