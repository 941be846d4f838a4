package tree

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/encoding/protowire"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
)

// comparison is the state of a comparison. It stops at the first error.
type comparison struct {
	*Outputs
	ctx     context.Context
	found   []Output
	entries int
	room    int64 // bytes of folder messages that may still be read
	err     error
}

// reader returns a folder's message.
type reader func(blob.Digest) ([]byte, error)

// directory compares a folder that the result names.
func (c *comparison) directory(at string, d *repb.OutputDirectory) {
	if c.err != nil {
		return
	}
	if at != "" {
		if err := checkPath(at); err != nil {
			c.fail(err)
			return
		}
	}
	read := reader(func(d blob.Digest) ([]byte, error) { return c.Read(c.ctx, d) })
	root := d.GetRootDirectoryDigest()
	if root == nil || d.GetTreeDigest() != nil {
		folders, top, err := c.tree(d.GetTreeDigest())
		if err != nil {
			c.fail(err)
			return
		}
		root = top.Proto()
		read = func(d blob.Digest) ([]byte, error) {
			m, ok := folders[d]
			if !ok {
				return nil, fmt.Errorf("the tree does not have its folder %s", d.Hash)
			}
			return m, nil
		}
	}
	c.folder(at, root, c.Before.Sub(at), read)
}

// folder compares a folder unless it is unchanged.
func (c *comparison) folder(at string, d *repb.Digest, before *Folder, read reader) {
	if c.err != nil {
		return
	}
	digest, err := blob.FromProto(d)
	if err != nil || before != nil && digest == before.digest {
		c.fail(err)
		return
	}
	if !c.reads(digest.Size) {
		return
	}
	if before != nil { // what was there before is not an output of the action
		c.entries -= len(before.entries)
	}
	message, err := read(digest)
	if err != nil {
		c.fail(err)
		return
	}
	rest, unchanged := before.differing(message)
	c.pass(unchanged)
	kept := c.changed(at, rest, before, unchanged, read)
	c.gone(at, before, unchanged, kept)
}

// gone records the entries of a folder that no longer exist. An entry of the same name is
// another thing if a file became a folder or the reverse.
func (c *comparison) gone(at string, before *Folder, unchanged []bool, kept map[string]kind) {
	if before == nil || c.err != nil {
		return
	}
	for i := range before.entries {
		if unchanged != nil && unchanged[i] {
			continue
		}
		e := &before.entries[i]
		k, is := kept[e.name]
		if is && (k == aFolder) == (e.kind == aFolder) {
			continue
		}
		below := path.Join(at, e.name)
		if e.kind == aFolder {
			c.gone(below, e.sub, nil, nil)
			continue
		}
		c.add(Output{Part: part(below, outcome.Gone), Inlined: true})
	}
}

func (c *comparison) add(o Output) { c.found = append(c.found, o) }

func (c *comparison) fail(err error) { c.err = cmp.Or(c.err, err) }

// consistent refuses what no folder can hold: two entries with one name, or an entry below a
// file.
func consistent(left []Output) error {
	files := make(map[string]bool, len(left))
	for i := range left {
		l := &left[i]
		if i > 0 && left[i-1].Path == l.Path {
			return fmt.Errorf("%q is there twice, and not the same", l.Path)
		}
		files[l.Path] = l.Form != outcome.Gone
	}
	for i := range left {
		for at := path.Dir(left[i].Path); left[i].Form != outcome.Gone && at != "."; at = path.Dir(at) {
			if files[at] {
				return fmt.Errorf("%q is there, and below it %q", at, left[i].Path)
			}
		}
	}
	return nil
}

func same(a, b outcome.Part) bool {
	return a.Form == b.Form && a.Exec == b.Exec && a.Size == b.Size && a.Digest == b.Digest
}

// differing returns, as a message, the entries of a Directory that differ from those of f. It
// marks the entries of f that are equal byte for byte. In a folder with many headers nearly all
// are, and none of them is decoded. It returns an invalid message as it is.
func (f *Folder) differing(message []byte) (rest []byte, unchanged []bool) {
	if f == nil {
		return message, nil
	}
	unchanged = make([]bool, len(f.entries))
	next := 0 // the expected entry of f, because both are in order
	for left := message; len(left) > 0; {
		number, _, n := protowire.ConsumeField(left)
		if n < 0 {
			return message, nil
		}
		field := left[:n]
		left = left[n:]
		at, found := next, next < len(f.entries) && bytes.Equal(field, f.bytes(next))
		if !found {
			at, found = f.where(number, field)
			found = found && bytes.Equal(field, f.bytes(at))
		}
		if next = at; found && !unchanged[at] {
			unchanged[at] = true
			next++
			continue
		}
		rest = append(rest, field...)
	}
	return rest, unchanged
}

func (f *Folder) bytes(i int) []byte { return f.message[f.begin(i):f.entries[i].end] }

// where returns the index of the entry with the name of a field, or of the entry before which
// it would be.
func (f *Folder) where(number protowire.Number, field []byte) (int, bool) {
	_, form, n := protowire.ConsumeTag(field)
	if number > protowire.Number(kinds) || form != protowire.BytesType {
		return len(f.entries), false
	}
	message, _ := protowire.ConsumeBytes(field[n:]) // the length was checked before
	var name string
	err := Fields(message, func(inner protowire.Number, b []byte, _ uint64) error {
		if inner == nameField {
			name = string(b)
		}
		return nil
	})
	if err != nil {
		return len(f.entries), false
	}
	return f.search(kind(number-1), name)
}

// hasUnchanged reports whether an entry below a name is marked.
func (f *Folder) hasUnchanged(name string, unchanged []bool) bool {
	if unchanged == nil {
		return false
	}
	for k := range kinds {
		if i, ok := f.search(k, name); ok && unchanged[i] {
			return true
		}
	}
	return false
}
