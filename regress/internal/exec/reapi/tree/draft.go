package tree

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/regress/internal/exec/reapi/blob"
)

// Draft gathers the entries of a folder, in any order. The zero Draft is an empty folder.
// One goroutine uses it.
type Draft struct {
	entries map[string]*drafted
}

type drafted struct {
	entry
	sub *Draft // of a folder
}

// Bounds of a name's parts and of a whole path, in bytes: those of Linux.
const (
	partBytesMax = 255
	pathBytesMax = 4096
)

// File puts a file at a path. A second one at the same path must be the same.
func (d *Draft) File(path string, f File) error {
	return d.put(path, entry{kind: aFile, file: f})
}

// Link puts a symlink at a path, which leads where target says: from the link's folder,
// or, if it begins with a slash, from the root of the worker's file system.
func (d *Draft) Link(path, target string) error {
	if target == "" || len(target) >= pathBytesMax || strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target) {
		return fmt.Errorf("the link %q leads to %.80q, which cannot be sent", path, target)
	}
	return d.put(path, entry{kind: aLink, target: target})
}

// Folder makes sure that there is a folder at a path, perhaps an empty one.
func (d *Draft) Folder(path string) error { return d.put(path, entry{kind: aFolder}) }

func (d *Draft) put(path string, e entry) error {
	if err := checkSent(path); err != nil {
		return err
	}
	for rest := path; ; {
		first, after, below := strings.Cut(rest, "/")
		put := entry{kind: aFolder}
		if !below {
			put = e
		}
		put.name = first
		had, err := d.at(put)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !below {
			return nil
		}
		d, rest = had.sub, after
	}
}

// at returns what is under the entry's name: the entry, or one that is the same.
func (d *Draft) at(put entry) (*drafted, error) {
	had := d.entries[put.name]
	switch {
	case had == nil:
	case had.kind != put.kind:
		return nil, fmt.Errorf("%s is there as %s already", put.name, had.kind)
	case had.file != put.file || had.target != put.target:
		return nil, fmt.Errorf("%s is there already, and is another", put.name)
	default:
		return had, nil
	}
	had = &drafted{entry: put}
	if put.kind == aFolder {
		had.sub = &Draft{}
	}
	if d.entries == nil {
		d.entries = map[string]*drafted{}
	}
	d.entries[put.name] = had
	return had, nil
}

// Done returns what was gathered as a Folder. The draft may be added to and be done again.
func (d *Draft) Done() (*Folder, error) {
	f := &Folder{entries: make([]entry, 0, len(d.entries))}
	for _, had := range d.entries {
		e := had.entry
		if had.sub != nil {
			var err error
			if e.sub, err = had.sub.Done(); err != nil {
				return nil, err
			}
		}
		f.entries = append(f.entries, e)
	}
	slices.SortFunc(f.entries, compareEntries)
	for i := range f.entries {
		text, err := f.entries[i].encode()
		if err != nil {
			return nil, err
		}
		f.message = append(f.message, text...)
		f.entries[i].end = len(f.message)
	}
	f.digest = blob.Of(f.message).Digest
	return f, nil
}

// checkPath refuses what cannot be a path below a folder.
func checkPath(path string) error {
	if len(path) >= pathBytesMax {
		return fmt.Errorf("a path of %d bytes is longer than %d", len(path), pathBytesMax-1)
	}
	for part := range strings.SplitSeq(path, "/") {
		if err := checkPart(part); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
	}
	return nil
}

// checkSent refuses what cannot be a path, or cannot be in a message: those are UTF-8.
func checkSent(path string) error {
	if !utf8.ValidString(path) {
		return fmt.Errorf("path %q: the name is not UTF-8, as the Remote Execution API wants it; rename it, or run it on this machine", path)
	}
	return checkPath(path)
}

func checkPart(part string) error {
	switch {
	case part == "" || part == "." || part == "..":
		return fmt.Errorf("%q cannot be the name of a file", part)
	case len(part) > partBytesMax:
		return fmt.Errorf("a part of %d bytes is longer than %d", len(part), partBytesMax)
	case strings.ContainsAny(part, "/\x00"):
		return fmt.Errorf("%q cannot be the name of a file", part)
	}
	return nil
}
