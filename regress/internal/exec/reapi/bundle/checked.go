package bundle

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"syscall"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// checked is a file that is read to be sent. It has the bytes that its digest promised, or an
// error that names the file: of other bytes an engine could only say that they are others.
type checked struct {
	file   *os.File
	digest blob.Digest
	sum    hash.Hash
	left   int64
}

func openChecked(file string, d blob.Digest) (io.ReadCloser, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, unreadable(file, err)
	}
	return &checked{file: f, digest: d, sum: sha256.New(), left: d.Size}, nil
}

// Read says with the last bytes that the file has changed, before anybody takes them for all.
func (c *checked) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.file.Read(p[:min(int64(len(p)), c.left)])
	c.sum.Write(p[:n])
	c.left -= int64(n)
	switch {
	case c.left == 0 && outcome.Digest(c.sum.Sum(nil)) != c.digest.Hash, err == io.EOF, errors.Is(err, syscall.EISDIR):
		return n, changed(c.file.Name())
	case err != nil:
		return n, unreadable(c.file.Name(), err)
	}
	return n, nil
}

func (c *checked) Close() error { return c.file.Close() }

func changed(file string) error {
	return fault.Inputf("%s changed while it was sent along; run again when nothing writes there", name.Print(file))
}
