package bundle

import (
	"errors"
	"io"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/name"
)

// content opens a file for sending, as it was when its digest was computed.
func content(file string, d blob.Digest) (io.ReadCloser, error) {
	f, _, err := filedigest.OpenFile(file)
	switch {
	case errors.Is(err, filedigest.ErrNoFile):
		return nil, changed(file)
	case err != nil:
		return nil, unreadable(file, err)
	}
	return blob.Checked(f, d, changed(file)), nil
}

func changed(file string) error {
	return fault.Inputf("%s changed while it was sent along; run again when nothing writes there", name.Print(file))
}
