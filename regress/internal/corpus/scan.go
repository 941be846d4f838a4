package corpus

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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

// A scan reads a tar's headers in order. It gives every error its class and the names of archive
// and entry. Only one goroutine may use it.
type scan struct {
	*meter
	cursor *cursor
	tar    *tar.Reader
	last   string // the last entry, for messages
	end    int64  // end of the last entry, with padding
	open   bool   // the archive ended with its last entry, without an end marker
}

func newScan(ctx context.Context, m *meter, src io.ReaderAt, size int64) *scan {
	c := &cursor{ctx: ctx, src: src, size: size}
	return &scan{meter: m, cursor: c, tar: tar.NewReader(c)}
}

// next returns the next member, or io.EOF after the last one. The cursor is then at the start of
// the content.
func (s *scan) next() (member, error) {
	h, err := s.tar.Next()
	if errors.Is(err, tar.ErrInsecurePath) {
		err = nil // name.Clean reports it better
	}
	if err == io.EOF {
		return member{}, s.checkEnd()
	}
	if err != nil {
		return member{}, s.damageError(err)
	}
	s.last, s.end = h.Name, padded(s.cursor.pos)
	m, err := readMember(h)
	if err != nil {
		return m, fault.Inputf("%s: entry %s: %w", s.label, name.Print(h.Name), err)
	}
	if err := s.count(m.size, h.Name, m.target); err != nil {
		return m, err
	}
	return m, s.skip(m.stored)
}

// skip checks that stored bytes of content follow. archive/tar seeks over them and would not notice
// their absence.
func (s *scan) skip(stored int64) error {
	if stored > s.cursor.size-s.end {
		return s.truncatedError(fmt.Sprintf(", which needs %s of content", readable.BinarySize(stored)))
	}
	s.end += padded(stored) // may be beyond the file, which checkEnd detects
	return nil
}

// padded rounds up to whole blocks.
func padded(n int64) int64 { return (n + blockBytes - 1) / blockBytes * blockBytes }

// checkEnd returns io.EOF if the archive ends at an end marker or with the last entry. archive/tar
// also accepts an end inside a padding, and after a header without its entry.
func (s *scan) checkEnd() error {
	if s.end == s.cursor.size {
		s.open = true
		return io.EOF
	}
	var block [blockBytes]byte
	n, err := s.cursor.readAt(block[:], s.end)
	switch {
	case err == nil && isZero(block[:]):
		return io.EOF
	case err == nil:
		return s.truncatedError("")
	case n < blockBytes && s.cursor.err == nil:
		return s.truncatedError("")
	}
	return s.damageError(err)
}

func (s *scan) truncatedError(why string) error {
	return fault.Inputf("%s is truncated: it ends at byte %d, %s%s; copy or make it again", s.label, s.cursor.size, s.where(), why)
}

func (s *scan) where() string {
	if s.last == "" {
		return "before the first entry"
	}
	return "in or after entry " + name.Print(s.last)
}

// damageError classifies an error of archive/tar.
func (s *scan) damageError(err error) error {
	if err := stopError(s.cursor.ctx, s.label); err != nil {
		return err
	}
	if s.cursor.err != nil {
		return readError(s.label, "", s.cursor.err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return s.truncatedError("")
	}
	return fault.Inputf("%s is damaged at byte %d or later, %s: %w; copy or make it again", s.label, s.end, s.where(), err)
}

// cutWarning returns the warning about an archive without an end marker. Some programs write none,
// so it is not an error. But an archive that was cut after an entry looks the same. A check of
// fewer cases would then report that all are identical.
func (s *scan) cutWarning() string {
	what := "entry"
	if s.entries != 1 {
		what = "entries"
	}
	return fmt.Sprintf("%s has no end marker and may be cut: %d %s, the last %s; copy or make it again if there should be more",
		s.label, s.entries, what, name.Print(s.last))
}

// trailingMax bounds the search after the end marker. Tapes and blocking factors pad by any number
// of zeros.
const trailingMax = 64 << 20

// trailingBytes returns the number of bytes after the end marker and its zeros. Nobody reads these
// bytes: archive/tar ends at the marker whatever follows, as tar does.
func (s *scan) trailingBytes() (int64, error) {
	buf := make([]byte, 64<<10)
	for at := s.end; at < min(s.cursor.size, s.end+trailingMax); {
		part := buf[:min(int64(len(buf)), s.cursor.size-at)]
		if _, err := s.cursor.readAt(part, at); err != nil {
			return 0, s.damageError(err)
		}
		if i := firstNonzero(part); i < len(part) {
			return s.cursor.size - at - int64(i), nil
		}
		at += int64(len(part))
	}
	return 0, nil
}

// trailingWarning returns the warning about bytes after the end marker. Mostly they are a second
// archive, plain or compressed.
func (s *scan) trailingWarning(bytes int64) string {
	unit := "bytes"
	if bytes == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("%s goes on after its end marker, by %d %s beyond it; if more entries are there, unpack it by tar --ignore-zeros and pack it again, or join the archives by tar --concatenate (-A)",
		s.label, bytes, unit)
}

// source is the state of an archive's file when it was opened.
type source struct {
	path string
	info fs.FileInfo
	key  string // of its unpacked copy; "" = the file itself is read
}

func sourceOf(path string, f *os.File) (*source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	path, err = filepath.Abs(path)
	return &source{path: path, info: info}, err
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
