// Package blob is a content by its digest, as an engine of the Remote Execution API knows
// it: SHA-256 and a size in bytes.
//
// It must not touch disk or network; who makes a blob says how it is opened.
package blob

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/outcome"
)

// Digest names a content. It can be compared, and be the key of a map.
type Digest struct {
	Hash outcome.Digest
	Size int64 // bytes
}

// Proto is the digest as messages have it.
func (d Digest) Proto() *repb.Digest {
	return &repb.Digest{Hash: d.Hash.String(), SizeBytes: d.Size}
}

// FromProto reads a digest as messages have it.
func FromProto(m *repb.Digest) (d Digest, err error) {
	if err := d.Hash.UnmarshalText([]byte(m.GetHash())); err != nil {
		return d, err
	}
	if d.Size = m.GetSizeBytes(); d.Size < 0 {
		return d, fmt.Errorf("a digest of %d bytes", d.Size)
	}
	return d, nil
}

// Blob is a content: in memory, or opened when it is sent. Open may be called more than
// once, and by several goroutines.
type Blob struct {
	Digest Digest
	Bytes  []byte                        // whole, if Open is nil
	Open   func() (io.ReadCloser, error) // gives Digest.Size bytes
}

// Of makes a blob of bytes, which it keeps.
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
