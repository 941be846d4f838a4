// Package tree encodes what actions are given, and decodes what they leave, as messages of the
// Remote Execution API: folders as Merkle trees, commands, actions, and the parts of an outcome
// that an action's result names. Its messages are canonical: equal things have equal bytes, and
// so equal digests, in whatever order they were added.
//
// It must not touch disk, clock or network: the caller supplies the function that reads
// messages.
package tree

import (
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
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
