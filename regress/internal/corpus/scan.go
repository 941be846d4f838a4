package corpus

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// scan goes through a tar's headers and gives every error its class, the
// archive's name and the entry's. It is used by one goroutine.
type scan struct {
	*meter
	cursor *cursor
	tar    *tar.Reader
	last   string // entry before, for messages
	end    int64  // of the last entry, padding included
	open   bool   // the archive ended with its last entry, without an end marker
}

func newScan(ctx context.Context, m *meter, src io.ReaderAt, size int64) *scan {
	c := &cursor{ctx: ctx, src: src, size: size}
	return &scan{meter: m, cursor: c, tar: tar.NewReader(c)}
}

// next returns the next member, or io.EOF after the last one. The cursor then
// stands where the content starts.
func (s *scan) next() (member, error) {
	h, err := s.tar.Next()
	if errors.Is(err, tar.ErrInsecurePath) {
		err = nil // name.Clean says it better
	}
	if err == io.EOF {
		return member{}, s.checkEnd()
	}
	if err != nil {
		return member{}, s.damaged(err)
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

// skip notes that so many bytes of content follow, and must be there:
// archive/tar seeks over them and would not see their absence.
func (s *scan) skip(stored int64) error {
	if stored > s.cursor.size-s.end {
		return s.truncated(fmt.Sprintf(", which needs %s of content", sized(stored)))
	}
	s.end += padded(stored) // may be beyond the file, which checkEnd finds
	return nil
}

// padded rounds up to whole blocks.
func padded(n int64) int64 { return (n + blockBytes - 1) / blockBytes * blockBytes }

// copyTo writes a member's content, holes filled.
func (s *scan) copyTo(w io.Writer) error {
	_, err := io.Copy(w, s.tar)
	var known *classified
	if errors.As(err, &known) {
		return known.err
	}
	if err != nil {
		return s.damaged(err)
	}
	s.end = padded(s.cursor.pos)
	return nil
}

// checkEnd returns io.EOF when the archive ends where it may: at an end
// marker, or with the last entry. archive/tar also takes it for the end when
// the file stops inside a padding, or after a header that describes an entry
// which is not there.
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
		return s.truncated("")
	case n < blockBytes && s.cursor.err == nil:
		return s.truncated("")
	}
	return s.damaged(err)
}

func (s *scan) truncated(why string) error {
	return fault.Inputf("%s is truncated: it ends at byte %d, %s%s; copy or make it again", s.label, s.cursor.size, s.where(), why)
}

func (s *scan) where() string {
	if s.last == "" {
		return "before the first entry"
	}
	return "in or after entry " + name.Print(s.last)
}

// damaged classifies an error of archive/tar.
func (s *scan) damaged(err error) error {
	if err := done(s.cursor.ctx, s.label); err != nil {
		return err
	}
	if s.cursor.err != nil {
		return cannotRead(s.label, "", s.cursor.err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return s.truncated("")
	}
	return fault.Inputf("%s is damaged at byte %d or later, %s: %w; copy or make it again", s.label, s.end, s.where(), err)
}

// mayBeCut says what an archive without an end marker may be. Some programs
// write none, so it is no error; but one that was cut where an entry ends looks
// the same, and a check of fewer cases would say that all are identical.
func (s *scan) mayBeCut() string {
	what := "entry"
	if s.entries != 1 {
		what = "entries"
	}
	return fmt.Sprintf("%s has no end marker and may be cut: %d %s, the last %s; copy or make it again if there should be more",
		s.label, s.entries, what, name.Print(s.last))
}

// trailingMax is how far behind the end marker something is looked for. Tapes
// and blocking factors pad by zeros, of which there may be any number.
const trailingMax = 64 << 20

// trailing returns how many bytes there are from the first after the end
// marker that is no zero. None of them is read: archive/tar takes the marker
// for the end whatever follows, as tar does.
func (s *scan) trailing() (int64, error) {
	buf := make([]byte, 64<<10)
	for at := s.end; at < min(s.cursor.size, s.end+trailingMax); {
		part := buf[:min(int64(len(buf)), s.cursor.size-at)]
		if _, err := s.cursor.readAt(part, at); err != nil {
			return 0, s.damaged(err)
		}
		if i := firstNonzero(part); i < len(part) {
			return s.cursor.size - at - int64(i), nil
		}
		at += int64(len(part))
	}
	return 0, nil
}

// goesOn says that so many bytes follow the end marker. Most often they are
// another archive: two after one another, or two compressed ones.
func (s *scan) goesOn(bytes int64) string {
	unit := "bytes"
	if bytes == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("%s goes on after its end marker, by %d %s beyond it; if more entries are there, unpack it by tar --ignore-zeros and pack it again, or join the archives by tar --concatenate (-A)",
		s.label, bytes, unit)
}
