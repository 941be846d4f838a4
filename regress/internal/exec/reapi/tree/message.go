package tree

import (
	"errors"
	"fmt"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
)

// Of a Tree message.
const (
	rootField     = 1
	childrenField = 2
)

// tree reads a Tree message: its folders by their digests, and which is the root. The
// folders are taken as the bytes that the engine wrote, of which it has made the digests.
func (l *looking) tree(d *repb.Digest) (folders map[blob.Digest][]byte, root blob.Digest, err error) {
	digest, err := blob.FromProto(d)
	if err != nil {
		return nil, root, err
	}
	if !l.reads(digest.Size) {
		return nil, root, l.err
	}
	message, err := l.Read(l.ctx, digest)
	if err != nil {
		return nil, root, err
	}
	folders = map[blob.Digest][]byte{}
	root = blob.Of(nil).Digest // an empty folder need not be written
	folders[root] = nil
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, root, damaged(protowire.ParseError(n))
		}
		message = message[n:]
		if kind != protowire.BytesType || number != rootField && number != childrenField {
			if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
				return nil, root, damaged(protowire.ParseError(n))
			}
			message = message[n:]
			continue
		}
		text, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return nil, root, damaged(protowire.ParseError(n))
		}
		if message = message[n:]; len(folders) > FilesMax {
			return nil, root, ErrTooMany
		}
		b := blob.Of(text)
		folders[b.Digest] = text
		if number == rootField {
			root = b.Digest
		}
	}
	return folders, root, nil
}

var errDamaged = errors.New("a message of the engine is damaged")

func damaged(err error) error { return fmt.Errorf("%w: %w", errDamaged, err) }

func unmarshal(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return damaged(err)
	}
	return nil
}
