package tree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
)

// Fields of a Tree message.
const (
	rootField     = 1
	childrenField = 2
)

// tree decodes a Tree message into its folders, by their digests, and its root. It keeps the
// engine's bytes, from which the engine made the digests.
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

// Fields yields the fields of a message in their order, each as non-nil bytes or as a number.
// It skips other kinds.
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
			b, _ := protowire.ConsumeBytes(value) // the length was checked before
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
	target string       // target of a link
	digest *repb.Digest // digest of a file or folder
	exec   bool
}

// nodes decodes the entries of a Directory by kind. It does so by hand: names may be any bytes,
// and generated code accepts only UTF-8.
func nodes(message []byte) (list [kinds][]node, err error) {
	err = Fields(message, func(field protowire.Number, b []byte, _ uint64) error {
		if b == nil || field > protowire.Number(kinds) {
			return nil
		}
		k := kind(field - 1) // files, folders, links: their order in the message
		n, err := nodeOf(k, b)
		list[k] = append(list[k], n)
		return err
	})
	return list, err
}

// Fields of the messages of nodes. A link has its target where the others have a digest.
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
			if err := proto.Unmarshal(b, n.digest); err != nil {
				return damaged(err)
			}
		case field == execField && k == aFile:
			n.exec = number != 0
		}
		return nil
	})
	return n, err
}

var errDamaged = errors.New("a message of the engine is damaged")

func damaged(err error) error { return fmt.Errorf("%w: %w", errDamaged, err) }

// ErrNoFolder is the error for a result without the requested work folder.
var ErrNoFolder = errors.New("the result has no work folder")

// Output is a file, link or removal that an action left. Inline is the content if the result
// has it, or a link's target. Otherwise Blob is its digest.
type Output struct {
	outcome.Part
	Inline  []byte
	Inlined bool // Inline is the content, perhaps an empty one.
}

// Blob is the digest of the content.
func (o *Output) Blob() blob.Digest { return blob.Digest{Hash: o.Digest, Size: o.Size} }

// Outputs finds what an action left: the difference between its work folder before and the
// result. Before and Read are required.
type Outputs struct {
	Before *Folder  // the work folder before the action
	Whole  bool     // the whole folder was requested, so what the result lacks is gone
	Paths  []string // otherwise the requested paths; those that the result lacks are gone

	// Read returns a message by its digest. It is called only for changed folders.
	Read func(context.Context, blob.Digest) ([]byte, error)
}

// Of returns what is new, changed or gone, by path: regular files and links alone, as in a
// lane. It reads no file contents. Its error is ErrTooMany, ErrNoFolder (only with Whole), that
// of Read, or describes what is wrong with the result.
func (o *Outputs) Of(ctx context.Context, r *repb.ActionResult) ([]Output, error) {
	c := comparison{Outputs: o, ctx: ctx, room: foldersMax}
	c.compareNamed(r)
	whole := false
	for _, d := range r.GetOutputDirectories() {
		at := strings.TrimSuffix(d.GetPath(), "/")
		if at == "." {
			at = ""
		}
		whole = whole || at == ""
		c.directory(at, d)
	}
	switch {
	case c.err != nil:
		return nil, c.err
	case c.Whole && !whole:
		return nil, ErrNoFolder
	}
	if !c.Whole {
		c.noteUnnamed(r)
	}
	slices.SortStableFunc(c.found, func(a, b Output) int { return strings.Compare(a.Path, b.Path) })
	// A file may be named by itself and also be in a named folder.
	left := slices.CompactFunc(c.found, func(a, b Output) bool { return a.Path == b.Path && same(a.Part, b.Part) })
	return left, consistent(left)
}
