package bundle

import (
	"io"
	"os"
	"syscall"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// content opens a file to be sent, as it was when its digest was made.
func content(file string, d blob.Digest) (io.ReadCloser, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, unreadable(file, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // nothing was written
		return nil, changed(file)
	}
	return blob.Checked(f, d, changed(file)), nil
}

func changed(file string) error {
	return fault.Inputf("%s changed while it was sent along; run again when nothing writes there", name.Print(file))
}
