package tree

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/regress/internal/exec/reapi/blob"
)

// Builder collects the entries of a folder, in any order. The zero Builder is an empty folder.
// One goroutine uses it.
type Builder struct {
	entries map[string]*built
}

type built struct {
	entry
	sub *Builder // content of a folder
}

// File adds a file at a path. A second file at the same path must be equal.
func (b *Builder) File(path string, f File) error {
	return b.put(path, entry{kind: aFile, file: f})
}

// Link adds a symlink at a path. A relative target begins in the link's folder, an absolute one
// in the root of the worker's file system.
func (b *Builder) Link(path, target string) error {
	if target == "" || len(target) >= pathBytesMax || strings.IndexByte(target, 0) >= 0 || !utf8.ValidString(target) {
		return fmt.Errorf("the link %q leads to %.80q, which cannot be sent", path, target)
	}
	return b.put(path, entry{kind: aLink, target: target})
}

// Folder adds a folder at a path unless it exists. It may be empty.
func (b *Builder) Folder(path string) error { return b.put(path, entry{kind: aFolder}) }

func (b *Builder) put(path string, e entry) error {
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
		had, err := b.at(put)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !below {
			return nil
		}
		b, rest = had.sub, after
	}
}

// at adds an entry, or returns the equal one that exists.
func (b *Builder) at(put entry) (*built, error) {
	had := b.entries[put.name]
	switch {
	case had == nil:
	case had.kind != put.kind:
		return nil, fmt.Errorf("%s is there as %s already", put.name, had.kind)
	case had.file != put.file || had.target != put.target:
		return nil, fmt.Errorf("%s is there already, and is another", put.name)
	default:
		return had, nil
	}
	had = &built{entry: put}
	if put.kind == aFolder {
		had.sub = &Builder{}
	}
	if b.entries == nil {
		b.entries = map[string]*built{}
	}
	b.entries[put.name] = had
	return had, nil
}

// Build returns the entries as a Folder. The Builder may be used further.
func (b *Builder) Build() (*Folder, error) {
	f := &Folder{entries: make([]entry, 0, len(b.entries))}
	for _, had := range b.entries {
		e := had.entry
		if had.sub != nil {
			var err error
			if e.sub, err = had.sub.Build(); err != nil {
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
