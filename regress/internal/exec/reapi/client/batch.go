package client

import (
	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

// aroundBlob is the most that a digest and its surroundings take in a message, in bytes.
const aroundBlob = 128

// dropCancelled answers the items whose callers have given up, and returns the others.
func dropCancelled[T any](items []T, cancelled func(T) error, answer func(T, error)) []T {
	var left []T
	for _, item := range items {
		if err := cancelled(item); err != nil {
			answer(item, err)
		} else {
			left = append(left, item)
		}
	}
	return left
}

// digestOf returns the digest in an answer. An invalid one equals no digest of a caller.
func digestOf(m *repb.Digest) blob.Digest {
	d, err := blob.FromProto(m)
	if err != nil {
		return blob.Digest{Size: -1}
	}
	return d
}
