package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/name"
)

// source is the file that an archive was read from, as it was then.
type source struct {
	path string
	info fs.FileInfo
}

func sourceOf(path string, f *os.File) (*source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	path, err = filepath.Abs(path)
	return &source{path, info}, err
}

func (s *source) changed(label string) error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return changedFault(label, "it is gone")
	case err != nil:
		return cannotRead(label, "", err)
	case !os.SameFile(now, s.info):
		return changedFault(label, "another file has its name now")
	}
	if what := differs(s.info.Size(), s.info.ModTime().UnixNano(), now); what != "" {
		return changedFault(label, what)
	}
	return nil
}

// stamp is what tells that a file of a folder changed, apart from its content.
type stamp struct {
	path    string // below the root
	size    int64
	modTime int64 // ns since 1970
	changed int64 // the same, of anything of it
	exec    bool
}

func stampOf(path string, info fs.FileInfo) stamp {
	s := stamp{path: path, size: info.Size(), modTime: info.ModTime().UnixNano(), exec: executable(info)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = filestamp.ChangeTime(st).UnixNano()
	}
	return s
}

// executable reports the owner's bit, the one that cases are given. A link has
// none of its own.
func executable(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o100 != 0 }

// Stamp tells, without reading contents, whether the corpus is still what Open
// found: one that was changed and put back meanwhile is another. It is empty for
// a stream, which nobody can change.
func (c *Corpus) Stamp() string {
	if c.source != nil {
		return filestamp.Of(c.source.info)
	}
	return stampOfAll(c.stamps)
}

// StampNow is what Stamp would be if the corpus was opened now, without files that
// are new. What cannot be looked at gives another one.
func (c *Corpus) StampNow() string {
	if c.source != nil {
		info, err := os.Stat(c.source.path)
		if err != nil {
			return "gone"
		}
		return filestamp.Of(info)
	}
	now := make([]stamp, len(c.stamps))
	for i, s := range c.stamps {
		info, err := c.folder.Lstat(s.path)
		if err != nil {
			return "gone"
		}
		now[i] = stampOf(s.path, info)
	}
	return stampOfAll(now)
}

func stampOfAll(stamps []stamp) string {
	if len(stamps) == 0 {
		return ""
	}
	h := sha256.New()
	for _, s := range slices.SortedFunc(slices.Values(stamps), func(a, b stamp) int { return strings.Compare(a.path, b.path) }) {
		fmt.Fprintf(h, "%d %s %d %d %d\n", len(s.path), s.path, s.size, s.modTime, s.changed)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Changed returns an error of class Input that names what changed since Open,
// or nil: the archive's size, time or identity, or the size, time or executable
// bit of a file or link of a folder. It reads no content, so an edit that keeps
// size and time escapes it. Files that are new in a folder do not count: no
// case was given them, so what was found out holds.
func (c *Corpus) Changed() error {
	if c.source != nil {
		return c.source.changed(c.label)
	}
	for _, s := range c.stamps {
		if err := c.stampChanged(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *Corpus) stampChanged(s stamp) error {
	now, err := c.folder.Lstat(s.path)
	what := ""
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		what = "is gone"
	case err != nil:
		return cannotRead(c.label, s.path, err)
	default:
		what = differs(s.size, s.modTime, now)
		if what == "" && executable(now) != s.exec {
			what = "its executable bit changed"
		}
	}
	if what == "" {
		return nil
	}
	return changedFault(c.label, name.Print(s.path)+": "+what)
}

func differs(size, modTime int64, now fs.FileInfo) string {
	switch {
	case now.Size() != size:
		return fmt.Sprintf("%d bytes became %d", size, now.Size())
	case now.ModTime().UnixNano() != modTime:
		return "it was written to"
	}
	return ""
}

func changedFault(label, what string) error {
	return fault.Inputf("%s changed while it ran: %s; run again when nothing writes there", label, what)
}
