package tree

import (
	"context"
	"fmt"
	"path"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

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
	read := reader(c.stored)
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

func (c *comparison) stored(d blob.Digest) ([]byte, error) { return c.Read(c.ctx, d) }

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

func (c *comparison) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}
