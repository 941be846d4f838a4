package blob

import (
	"crypto/sha256"
	"hash"
	"io"

	"muster/regress/internal/outcome"
)

// verifier is a content that is verified while it is sent.
type verifier struct {
	io.Closer
	from    io.Reader
	digest  Digest
	changed error
	sum     hash.Hash
	left    int64
}

// Checked returns a reader of the content that a digest names. If r has another content, the
// reader fails with changed: the engine could only report a content that does not match. It
// does not read what follows in r.
func Checked(r io.ReadCloser, d Digest, changed error) io.ReadCloser {
	return &verifier{Closer: r, from: r, digest: d, changed: changed, sum: sha256.New(), left: d.Size}
}

// Read fails together with the last bytes, before anybody takes them for the whole content.
func (c *verifier) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	c.sum.Write(p[:n])
	c.left -= int64(n)
	switch {
	case c.left == 0 && outcome.Digest(c.sum.Sum(nil)) != c.digest.Hash, c.left > 0 && err == io.EOF:
		return n, c.changed
	case err == io.EOF:
		return n, nil
	}
	return n, err
}
