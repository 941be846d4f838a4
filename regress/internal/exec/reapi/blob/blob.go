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
	"strings"

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

// FromProto reads the digest that a message has. What is none of SHA-256, as an engine
// in error may send it, is refused.
func FromProto(d *repb.Digest) (Digest, error) {
	var found Digest
	err := found.Hash.UnmarshalText([]byte(d.GetHash()))
	if err != nil || strings.ContainsAny(d.GetHash(), "ABCDEF") || d.GetSizeBytes() < 0 {
		return Digest{}, fmt.Errorf("%.80q with %d bytes is no digest of SHA-256", d.GetHash(), d.GetSizeBytes())
	}
	found.Size = d.GetSizeBytes()
	return found, nil
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
