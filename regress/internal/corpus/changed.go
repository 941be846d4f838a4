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

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/name"
)

// source is the state of an archive's file when it was opened.
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

func (s *source) checkChanged(label string) error {
	now, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return changedError(label, "it is gone")
	case err != nil:
		return readError(label, "", err)
	case !os.SameFile(now, s.info):
		return changedError(label, "another file has its name now")
	}
	if what := describeChange(s.info.Size(), s.info.ModTime().UnixNano(), now); what != "" {
		return changedError(label, what)
	}
	return nil
}

// stamp detects whether a file of a folder changed, without its content.
type stamp struct {
	path    string // below the root
	size    int64
	modTime int64 // ns since 1970
	changed int64 // the same, of any change of the inode
	exec    bool
}

func stampOf(path string, info fs.FileInfo) stamp {
	s := stamp{path: path, size: info.Size(), modTime: info.ModTime().UnixNano(), exec: isExecutable(info)}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.changed = filestamp.ChangeTime(st).UnixNano()
	}
	return s
}

// isExecutable reports the owner's executable bit, the one that cases are given. Links have no such
// bit.
func isExecutable(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o100 != 0 }

// Stamp identifies the state of the corpus at Open, without reading contents. If the corpus was
// changed and restored meanwhile, its stamp differs. It is empty for a stream, which cannot change.
func (c *Corpus) Stamp() string {
	if c.source != nil {
		return filestamp.Of(c.source.info)
	}
	return stampOfAll(c.stamps)
}

// StampNow returns what Stamp would return if the corpus was opened now, ignoring new files. It
// differs from Stamp if a file cannot be read.
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

// Changed returns an error of class Input that names a change since Open, or nil. It checks the
// size, time and identity of an archive, and the size, time and executable bit of a folder's files
// and links. It reads no content, so it misses an edit that keeps size and time. It ignores new
// files in a folder: no case was given them.
func (c *Corpus) Changed() error {
	if c.source != nil {
		return c.source.checkChanged(c.label)
	}
	for _, s := range c.stamps {
		if err := c.checkStamp(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *Corpus) checkStamp(s stamp) error {
	now, err := c.folder.Lstat(s.path)
	what := ""
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		what = "is gone"
	case err != nil:
		return readError(c.label, s.path, err)
	default:
		what = describeChange(s.size, s.modTime, now)
		if what == "" && isExecutable(now) != s.exec {
			what = "its executable bit changed"
		}
	}
	if what == "" {
		return nil
	}
	return changedError(c.label, name.Print(s.path)+": "+what)
}

func describeChange(size, modTime int64, now fs.FileInfo) string {
	switch {
	case now.Size() != size:
		return readable.Count(size, "byte") + " became " + readable.Number(now.Size())
	case now.ModTime().UnixNano() != modTime:
		return "it was written to"
	}
	return ""
}

func changedError(label, what string) error {
	return fault.Inputf("%s changed while it ran: %s; run again when nothing writes there", label, what)
}
