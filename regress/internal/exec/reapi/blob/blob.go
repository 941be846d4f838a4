// Package blob is a content and its digest, in the form of the Remote Execution API: SHA-256
// and a size in bytes.
//
// It must not touch disk or network: the maker of a blob supplies the function that opens it.
package blob

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/outcome"
)

// Digest identifies a content. It is comparable, and can be the key of a map.
type Digest struct {
	Hash outcome.Digest
	Size int64 // bytes
}

// Proto returns the digest as a message.
func (d Digest) Proto() *repb.Digest {
	return &repb.Digest{Hash: d.Hash.String(), SizeBytes: d.Size}
}

// FromProto returns the digest in a message. It refuses anything but SHA-256, which a faulty
// engine may send.
func FromProto(d *repb.Digest) (Digest, error) {
	var found Digest
	err := found.Hash.UnmarshalText([]byte(d.GetHash()))
	if err != nil || strings.ContainsAny(d.GetHash(), "ABCDEF") || d.GetSizeBytes() < 0 {
		return Digest{}, fmt.Errorf("%.80q with %d bytes is not a digest of SHA-256", d.GetHash(), d.GetSizeBytes())
	}
	found.Size = d.GetSizeBytes()
	return found, nil
}

// Blob is a content, in memory or opened when it is sent. Several goroutines may call Open,
// more than once.
type Blob struct {
	Digest Digest
	Bytes  []byte                        // the whole content, if Open is nil
	Open   func() (io.ReadCloser, error) // opens Digest.Size bytes
}

// Of makes a blob of bytes. The blob keeps the slice.
func Of(b []byte) Blob {
	return Blob{Digest: Digest{sha256.Sum256(b), int64(len(b))}, Bytes: b}
}

// Reader opens the content.
func (b Blob) Reader() (io.ReadCloser, error) {
	if b.Open != nil {
		return b.Open()
	}
	return io.NopCloser(bytes.NewReader(b.Bytes)), nil
}

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
