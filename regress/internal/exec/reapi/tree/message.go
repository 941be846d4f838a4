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
func (c *comparison) tree(d *repb.Digest) (folders map[blob.Digest][]byte, root blob.Digest, err error) {
	digest, err := blob.FromProto(d)
	if err != nil {
		return nil, root, err
	}
	if !c.reads(digest.Size) {
		return nil, root, c.err
	}
	message, err := c.Read(c.ctx, digest)
	if err != nil {
		return nil, root, err
	}
	folders = map[blob.Digest][]byte{}
	root = blob.Of(nil).Digest // an empty folder need not be written
	folders[root] = nil
	err = Fields(message, func(number protowire.Number, text []byte, _ uint64) error {
		if text == nil || number != rootField && number != childrenField {
			return nil
		}
		if len(folders) > FilesMax {
			return ErrTooMany
		}
		b := blob.Of(text)
		folders[b.Digest] = text
		if number == rootField {
			root = b.Digest
		}
		return nil
	})
	return folders, root, err
}

// Fields hands out the fields of a message in their order, each as bytes that are not nil,
// or as a number. Other kinds are passed over.
func Fields(message []byte, take func(field protowire.Number, b []byte, n uint64) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return damaged(protowire.ParseError(n))
		}
		value := message[n:]
		if n = protowire.ConsumeFieldValue(field, kind, value); n < 0 {
			return damaged(protowire.ParseError(n))
		}
		message = value[n:]
		var err error
		switch kind {
		case protowire.BytesType:
			b, _ := protowire.ConsumeBytes(value) // it was measured
			err = take(field, b, 0)
		case protowire.VarintType:
			number, _ := protowire.ConsumeVarint(value)
			err = take(field, nil, number)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// node is a file, a folder or a link in a Directory.
type node struct {
	name   string
	target string       // of a link
	digest *repb.Digest // of the others
	exec   bool
}

// nodes reads a Directory: its entries by their kinds. It is taken apart by hand because
// names are any bytes to those who write it, and must be UTF-8 to generated code.
func nodes(message []byte) (list [kinds][]node, err error) {
	err = Fields(message, func(field protowire.Number, b []byte, _ uint64) error {
		if b == nil || field > protowire.Number(kinds) {
			return nil
		}
		k := kind(field - 1) // files, folders, links: in this order in the message too
		n, err := nodeOf(k, b)
		list[k] = append(list[k], n)
		return err
	})
	return list, err
}

// Of the messages of nodes. A link has its target where the others have a digest.
const (
	nameField   = 1
	digestField = 2
	execField   = 4
)

func nodeOf(k kind, message []byte) (n node, err error) {
	err = Fields(message, func(field protowire.Number, b []byte, number uint64) error {
		switch {
		case field == nameField:
			n.name = string(b)
		case field == digestField && k == aLink:
			n.target = string(b)
		case field == digestField:
			n.digest = &repb.Digest{}
			return unmarshal(b, n.digest)
		case field == execField && k == aFile:
			n.exec = number != 0
		}
		return nil
	})
	return n, err
}

var errDamaged = errors.New("a message of the engine is damaged")

func damaged(err error) error { return fmt.Errorf("%w: %w", errDamaged, err) }

func unmarshal(b []byte, m proto.Message) error {
	if err := proto.Unmarshal(b, m); err != nil {
		return damaged(err)
	}
	return nil
}
