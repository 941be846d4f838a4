package bundle

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// content opens a file to be sent, as it was when its digest was made.
func content(file string, d blob.Digest) (io.ReadCloser, error) {
	f, _, err := openFile(file)
	switch {
	case errors.Is(err, errNoFile):
		return nil, changed(file)
	case err != nil:
		return nil, unreadable(file, err)
	}
	return blob.Checked(f, d, changed(file)), nil
}

// errNoFile says that what was a file has become a folder, or a pipe.
var errNoFile = errors.New("no longer a file")

// openFile opens what was seen to be a file.
func openFile(file string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNoFile
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, nil, err
	}
	return f, info, nil
}

func changed(file string) error {
	return fault.Inputf("%s changed while it was sent along; run again when nothing writes there", name.Print(file))
}
