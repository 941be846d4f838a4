// Package tree is what actions are given and what they leave, as messages of the Remote
// Execution API: folders as Merkle trees, commands, actions, and the parts of an outcome
// that an action's result names. All that it makes is canonical: what is the same has the
// same bytes, and so the same digest, whatever order it came in.
//
// It must not touch disk, clock or network: who calls it hands in how a message is read.
package tree

import (
	"fmt"
	"slices"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
)

// File is a content under a name.
type File struct {
	Digest blob.Digest
	Exec   bool
}

// Folder is a folder with all below it, in canonical form. It is never changed, so any
// number of goroutines may use it, and folders share what is below them.
type Folder struct {
	digest  blob.Digest
	message []byte  // a Directory
	entries []entry // in the order of the message: by kind, and by name within
}

// kind is what an entry is, in the order in which a message has them.
type kind uint8

const (
	aFile kind = iota
	aFolder
	aLink
	kinds
)

type entry struct {
	kind   kind
	name   string
	end    int     // of its bytes in the message, where those of the next begin
	file   File    // of a file
	sub    *Folder // of a folder
	target string  // of a link
}

// Digest is that of the folder's message, which names all below it.
func (f *Folder) Digest() blob.Digest { return f.digest }

// Blobs yields the messages of the folder and of all below it, each once.
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

// Sub returns the folder at a path below this one, or nil where none is. The path "" is
// this folder.
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

// find returns what has a name in the folder, or nil.
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

// With returns the folder with one file more, or another in its place, and the messages
// that differ from this folder's: those on the file's path, and no others.
func (f *Folder) With(path string, file File) (*Folder, []blob.Blob, error) {
	if err := checkSent(path); err != nil {
		return nil, nil, err
	}
	var made []blob.Blob
	now, err := f.with(path, file, &made)
	return now, made, err
}

func (f *Folder) with(path string, file File, made *[]blob.Blob) (*Folder, error) {
	first, rest, below := strings.Cut(path, "/")
	put := entry{kind: aFile, name: first, file: file}
	had := f.find(first)
	if below {
		put = entry{kind: aFolder, name: first}
		sub := emptyFolder()
		if had != nil && had.kind == aFolder {
			sub = had.sub
		}
		var err error
		if put.sub, err = sub.with(rest, file, made); err != nil {
			return nil, err
		}
	}
	if had != nil && had.kind != put.kind {
		return nil, fmt.Errorf("%s is already there, and not as %s", first, put.kind)
	}
	now, err := f.put(put)
	if err == nil {
		*made = append(*made, now.blob())
	}
	return now, err
}

func (k kind) String() string { return [...]string{"a file", "a folder", "a link"}[k] }

func emptyFolder() *Folder { return &Folder{digest: blob.Of(nil).Digest} }

// put returns the folder with an entry in the place of one that has its kind and name, if
// there is one. The bytes of the others are copied, and not made anew.
func (f *Folder) put(e entry) (*Folder, error) {
	text, err := e.encode()
	if err != nil {
		return nil, err
	}
	at, replaces := f.search(e.kind, e.name)
	from, rest := f.begin(at), f.begin(at)
	after := f.entries[at:]
	if replaces {
		rest, after = f.entries[at].end, after[1:]
	}
	now := &Folder{
		message: make([]byte, 0, len(f.message)+len(text)-(rest-from)),
		entries: make([]entry, 0, len(f.entries)+1),
	}
	now.message = append(append(append(now.message, f.message[:from]...), text...), f.message[rest:]...)
	e.end = from + len(text)
	now.entries = append(append(append(now.entries, f.entries[:at]...), e), after...)
	for i := at + 1; i < len(now.entries); i++ {
		now.entries[i].end += e.end - rest
	}
	now.digest = blob.Of(now.message).Digest
	return now, nil
}

// begin is where the bytes of the i-th entry begin.
func (f *Folder) begin(i int) int {
	if i == 0 {
		return 0
	}
	return f.entries[i-1].end
}

// encode returns the entry's bytes in a Directory: a message is its fields one after
// another, so a folder's is its entries' in their order.
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
