package reapitest

import (
	"crypto/sha256"
	"encoding/hex"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Digest identifies a content. It is comparable.
type Digest struct {
	Hash string // SHA-256, in lower-case hexadecimal
	Size int64  // bytes
}

// DigestOf returns the digest of a content.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest{hex.EncodeToString(sum[:]), int64(len(data))}
}

// Proto returns the digest as a message.
func (d Digest) Proto() *repb.Digest { return &repb.Digest{Hash: d.Hash, SizeBytes: d.Size} }

// digestOf returns the digest in a message.
func digestOf(m *repb.Digest) (Digest, error) {
	d := Digest{m.GetHash(), m.GetSizeBytes()}
	if sum, err := hex.DecodeString(d.Hash); err != nil || len(sum) != sha256.Size || hex.EncodeToString(sum) != d.Hash || d.Size < 0 {
		return Digest{}, status.Errorf(codes.InvalidArgument, "%q with %d bytes is not a digest of SHA-256", d.Hash, d.Size)
	}
	return d, nil
}
