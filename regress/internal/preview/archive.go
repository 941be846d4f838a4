package preview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/readable"
)

// Bounds of an archive.
const (
	unpackedBytesMax = 32 << 20 // contents of all entries
	entriesMax       = 10_000
	nameBytesMax     = 4096 // as of a path on Linux
)

// SameEntries says that two archives differ although EntriesOf finds nothing.
const SameEntries = "All entries are the same: something else differs, such as their order, times, owners or compression."

// An Entry is an entry in which two archives differ.
type Entry struct {
	Name     string // as the archive has it
	Old, Now []byte // contents; a link's is its target
	// What is added, removed, or changed. Remark says what else changed; it may be empty.
	What, Remark string
}

// Words describes an entry.
func (e Entry) Words() string {
	words := e.What + ": "
	switch e.What {
	case "added":
		words += readable.Count(len(e.Now), "byte")
	case "removed":
		words += readable.Count(len(e.Old), "byte")
	default:
		words += readable.Count(len(e.Old), "byte") + " → " + readable.Count(len(e.Now), "byte")
	}
	if e.Remark != "" {
		words += ", " + e.Remark
	}
	return words
}

// EntriesOf compares two archives entry by entry: tar, zip, or tar in gzip. ok is false if a content is no
// archive, or is damaged or too large. Entries that are the same have the same name, content, type and
// permissions; times and owners are not compared. The entries come in the order of their names.
func EntriesOf(old, now []byte) (entries []Entry, ok bool) {
	a, err := unpack(old)
	if err != nil {
		return nil, false
	}
	b, err := unpack(now)
	if err != nil {
		return nil, false
	}
	for at, was := range a {
		is, kept := b[at]
		switch {
		case !kept:
			entries = append(entries, Entry{at.String(), was.content, nil, "removed", was.mode})
		case was.mode != is.mode:
			entries = append(entries, Entry{at.String(), was.content, is.content, "changed", was.mode + " → " + is.mode})
		case !bytes.Equal(was.content, is.content):
			entries = append(entries, Entry{at.String(), was.content, is.content, "changed", ""})
		}
	}
	for at, is := range b {
		if _, had := a[at]; !had {
			entries = append(entries, Entry{at.String(), nil, is.content, "added", is.mode})
		}
	}
	slices.SortFunc(entries, func(x, y Entry) int { return cmp.Compare(x.Name, y.Name) })
	return entries, true
}

// An unpacked entry has its type and permissions in the form of ls.
type unpacked struct {
	mode    string
	content []byte
}

var errBeyond = errors.New("no archive, or beyond its bounds")

// An unpacker collects the entries of an archive while they are within the bounds.
type unpacker struct {
	entries map[place]unpacked
	times   map[string]int // entries with a name
	room    int64
}

// A place is where an entry is: its name, and which entry of this name it is, from 1.
type place struct {
	name string
	n    int
}

func (p place) String() string {
	if p.n == 1 {
		return p.name
	}
	return fmt.Sprintf("%s (entry %d)", p.name, p.n)
}

func unpack(content []byte) (map[place]unpacked, error) {
	if len(content) > BytesMax {
		return nil, errBeyond
	}
	u := &unpacker{map[place]unpacked{}, map[string]int{}, unpackedBytesMax}
	switch {
	case isTar(content):
		return u.entries, u.tar(bytes.NewReader(content))
	case bytes.HasPrefix(content, []byte("PK\x03\x04")), bytes.HasPrefix(content, []byte("PK\x05\x06")):
		return u.entries, u.zip(content)
	case bytes.HasPrefix(content, []byte("\x1f\x8b")):
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		// The blocks around the contents take room too.
		text, err := io.ReadAll(io.LimitReader(z, unpackedBytesMax+1))
		if err != nil || len(text) > unpackedBytesMax || !isTar(text) {
			return nil, errBeyond
		}
		return u.entries, u.tar(bytes.NewReader(text))
	}
	return nil, errBeyond
}

const tarMagicAt = 257 // offset in a header

func isTar(content []byte) bool {
	return len(content) > tarMagicAt && bytes.HasPrefix(content[tarMagicAt:], []byte("ustar"))
}

func (u *unpacker) tar(r io.Reader) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		mode := h.FileInfo().Mode().String()
		if h.Typeflag == tar.TypeLink {
			mode = "h" + mode[1:] // as tar lists it; its content is the name of another entry
		}
		if err := u.add(h.Name, mode, io.MultiReader(strings.NewReader(h.Linkname), t)); err != nil {
			return err
		}
	}
}

func (u *unpacker) zip(content []byte) error {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err == nil {
			err = u.add(f.Name, f.Mode().String(), r)
			r.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add keeps an entry. An archive may have a name more than once.
func (u *unpacker) add(name, mode string, r io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(r, u.room+1))
	u.room -= int64(len(content) + len(name))
	if err != nil || u.room < 0 || len(u.entries) == entriesMax || len(name) > nameBytesMax {
		return errors.Join(err, errBeyond)
	}
	u.times[name]++
	u.entries[place{name, u.times[name]}] = unpacked{mode, content}
	return nil
}
