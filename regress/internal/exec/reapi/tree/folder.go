// Package tree encodes what actions are given, and decodes what they leave, as messages of the
// Remote Execution API: folders as Merkle trees, commands, actions, and the parts of an outcome
// that an action's result names. Its messages are canonical: equal things have equal bytes, and
// so equal digests, in whatever order they were added.
//
// It must not touch disk, clock or network: the caller supplies the function that reads
// messages.
package tree

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/outcome"
)

// File is a content with a name.
type File struct {
	Digest blob.Digest
	Exec   bool
}

// Folder is a folder with everything below it, in canonical form. It never changes, so any
// number of goroutines may use it, and folders share what is below them.
type Folder struct {
	digest  blob.Digest
	message []byte  // a Directory message
	entries []entry // in the order of the message: by kind, then by name
}

// kind is the kind of an entry, in the order of a message.
type kind uint8

const (
	aFile kind = iota
	aFolder
	aLink
	kinds
)

func (k kind) String() string { return [...]string{"a file", "a folder", "a link"}[k] }

type entry struct {
	kind   kind
	name   string
	end    int     // offset in the message of the end of its bytes
	file   File    // for a file
	sub    *Folder // for a folder
	target string  // for a link
}

// Digest returns the digest of the folder's message, which names everything below it.
func (f *Folder) Digest() blob.Digest { return f.digest }

// Blobs yields the messages of the folder and of all folders below it, each once.
func (f *Folder) Blobs(yield func(blob.Blob) bool) {
	f.each(map[blob.Digest]bool{}, yield)
}

func (f *Folder) each(seen map[blob.Digest]bool, yield func(blob.Blob) bool) bool {
	if seen[f.digest] {
		return true
	}
	seen[f.digest] = true
	for i := range f.entries {
		if sub := f.entries[i].sub; sub != nil && !sub.each(seen, yield) {
			return false
		}
	}
	return yield(f.blob())
}

func (f *Folder) blob() blob.Blob { return blob.Blob{Digest: f.digest, Bytes: f.message} }

// Sub returns the folder at a path below this one, or nil. The path "" is this folder.
func (f *Folder) Sub(path string) *Folder {
	for path != "" && f != nil {
		var first string
		first, path, _ = strings.Cut(path, "/")
		e := f.find(first)
		if e == nil {
			return nil
		}
		f = e.sub
	}
	return f
}

// find returns the entry with a name, or nil.
func (f *Folder) find(name string) *entry {
	if f == nil {
		return nil
	}
	for k := range kinds {
		if i, ok := f.search(k, name); ok {
			return &f.entries[i]
		}
	}
	return nil
}

func (f *Folder) search(k kind, name string) (int, bool) {
	return slices.BinarySearchFunc(f.entries, entry{kind: k, name: name}, compareEntries)
}

func compareEntries(a, b entry) int {
	if a.kind != b.kind {
		return int(a.kind) - int(b.kind)
	}
	return strings.Compare(a.name, b.name)
}

// begin returns the offset of the i-th entry's bytes.
func (f *Folder) begin(i int) int {
	if i == 0 {
		return 0
	}
	return f.entries[i-1].end
}

// encode returns the entry's bytes in a Directory. A message is the concatenation of its
// fields, so a folder's message is that of its entries in order.
func (e *entry) encode() ([]byte, error) {
	var d repb.Directory
	switch e.kind {
	case aFile:
		d.Files = []*repb.FileNode{{Name: e.name, Digest: e.file.Digest.Proto(), IsExecutable: e.file.Exec}}
	case aFolder:
		d.Directories = []*repb.DirectoryNode{{Name: e.name, Digest: e.sub.digest.Proto()}}
	case aLink:
		d.Symlinks = []*repb.SymlinkNode{{Name: e.name, Target: e.target}}
	}
	return marshal(&d)
}

// FilesMax is the largest number of files that one action may leave, as in a lane. More files
// count as reaching the output limit.
const FilesMax = 100_000

// ErrTooMany is the error for an action that left more files, or a path longer than Linux
// allows.
var ErrTooMany = errors.New("too many files")

// foldersMax bounds the bytes of folder messages that are read for one action: enough for
// FilesMax files with the longest names, and as many given ones. Each message counts as a few
// bytes more.
const (
	foldersMax    = 96 << 20
	aroundMessage = 64
)

// pass counts unchanged entries.
func (c *comparison) pass(unchanged []bool) {
	for _, is := range unchanged {
		if is {
			c.entries++
		}
	}
}

// enters counts an entry. Entries are bounded even in a small tree that names one folder many
// times.
func (c *comparison) enters(at string) bool {
	if c.err != nil {
		return false
	}
	if c.entries++; c.entries > FilesMax || len(at) >= pathBytesMax {
		c.fail(ErrTooMany)
		return false
	}
	if err := checkPath(at); err != nil {
		c.fail(err)
		return false
	}
	return true
}

// reads counts the bytes of a message. They are bounded even in a small tree that names one
// large message many times.
func (c *comparison) reads(size int64) bool {
	if c.room -= aroundMessage; size > c.room {
		c.fail(ErrTooMany)
	}
	c.room -= size
	if c.ctx.Err() != nil {
		c.fail(c.ctx.Err())
	}
	return c.err == nil
}

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

// compareNamed compares the outputs that the result names one by one.
func (c *comparison) compareNamed(r *repb.ActionResult) {
	for _, f := range r.GetOutputFiles() {
		had := c.had(f.GetPath())
		c.file(f.GetPath(), had, f.GetDigest(), f.GetIsExecutable(), f.GetContents())
	}
	for _, s := range links(r) {
		c.link(s.GetPath(), c.had(s.GetPath()), s.GetTarget())
	}
}

// noteUnnamed records requested outputs that were given and no longer exist.
func (c *comparison) noteUnnamed(r *repb.ActionResult) {
	var files, folders []string
	for _, f := range r.GetOutputFiles() {
		files = append(files, f.GetPath())
	}
	for _, s := range links(r) {
		files = append(files, s.GetPath())
	}
	for _, d := range r.GetOutputDirectories() {
		folders = append(folders, strings.TrimSuffix(d.GetPath(), "/"))
	}
	for _, at := range c.Paths {
		had := c.had(at)
		switch {
		case had == nil || slices.ContainsFunc(folders, func(above string) bool { return strings.HasPrefix(at, above+"/") }):
		case had.kind == aFolder && !slices.Contains(folders, at):
			c.gone(at, had.sub, nil, nil)
		case had.kind != aFolder && !slices.Contains(files, at):
			c.add(Output{Part: part(at, outcome.Gone), Inlined: true})
		}
	}
}

// had returns the entry that the work folder had at a path, or nil.
func (c *comparison) had(at string) *entry {
	dir, name := path.Split(at)
	return c.Before.Sub(strings.TrimSuffix(dir, "/")).find(name)
}
