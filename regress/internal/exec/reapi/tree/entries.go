package tree

import (
	"fmt"
	"path"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
)

// changed compares the changed entries of a folder, and returns the kind of each by its name.
// message has only these entries.
func (c *comparison) changed(at string, message []byte, before *Folder, unchanged []bool, read reader) map[string]kind {
	now, err := nodes(message)
	if err != nil {
		c.fail(err)
		return nil
	}
	kept := make(map[string]kind, len(now[aFile])+len(now[aFolder])+len(now[aLink]))
	enter := func(name string, k kind) string {
		if err := checkPart(name); err != nil {
			c.fail(err)
		} else if _, twice := kept[name]; twice || before.hasUnchanged(name, unchanged) {
			c.fail(fmt.Errorf("a folder has the name %q twice", name))
		}
		kept[name] = k
		return path.Join(at, name)
	}
	for _, f := range now[aFile] {
		c.file(enter(f.name, aFile), before.find(f.name), f.digest, f.exec, nil)
	}
	for _, s := range now[aLink] {
		c.link(enter(s.name, aLink), before.find(s.name), s.target)
	}
	for _, sub := range now[aFolder] {
		if below := enter(sub.name, aFolder); c.enters(below) {
			c.folder(below, sub.digest, before.Sub(sub.name), read)
		}
	}
	return kept
}

func (c *comparison) file(at string, had *entry, d *repb.Digest, exec bool, inline []byte) {
	if !c.enters(at) {
		return
	}
	digest, err := blob.FromProto(d)
	if err != nil {
		c.fail(fmt.Errorf("%q: %w", at, err))
		return
	}
	if had != nil && had.kind == aFile && had.file == (File{digest, exec}) {
		return
	}
	left := Output{Part: part(at, outcome.Regular)}
	left.Exec, left.Size, left.Digest = exec, digest.Size, digest.Hash
	if digest.Size == 0 || len(inline) > 0 && blob.Of(inline).Digest == digest {
		left.Inline, left.Inlined = inline, true
	}
	c.add(left)
}

func (c *comparison) link(at string, had *entry, target string) {
	if !c.enters(at) || had != nil && had.kind == aLink && had.target == target {
		return
	}
	if target == "" || len(target) >= pathBytesMax || strings.IndexByte(target, 0) >= 0 {
		c.fail(fmt.Errorf("the link %q leads to %.80q, where none can lead", at, target))
		return
	}
	left := Output{Part: part(at, outcome.Symlink), Inline: []byte(target), Inlined: true}
	left.Size, left.Digest = int64(len(target)), outcome.Of(left.Inline)
	c.add(left)
}

func part(at string, form outcome.Form) outcome.Part {
	return outcome.Part{Key: outcome.Key{Place: outcome.File, Path: at}, Form: form}
}
