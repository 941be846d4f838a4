package corpus

import (
	"context"
	"io"
	"os"
)

// indexTar reads a tar's headers, and no contents. sparse reports that the archive must be expanded
// first because of sparse contents. The tree is then nil.
func (p *opener) indexTar(ctx context.Context, f *os.File) (t *tree, sparse bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, false, readError(p.label, "", err)
	}
	s := newScan(ctx, p.meter(), f, info.Size())
	t = newTree(p.label, p.Limits)
	for {
		m, err := s.next()
		if err == io.EOF {
			break
		}
		if err == nil && m.sparse {
			return nil, true, nil
		}
		if err == nil {
			err = addMember(t, m, s.cursor.pos)
		}
		if err != nil {
			return nil, false, err
		}
	}
	rest, err := s.trailingBytes()
	switch {
	case err != nil:
		return nil, false, err
	case s.open:
		p.Warn(s.cutWarning())
	case rest > 0:
		p.Warn(s.trailingWarning(rest))
	}
	return t, false, nil
}

// checkClaims reads the headers at the beginning of a tar that is being unpacked. It returns an
// error if they exceed a limit. A bomb claims its size in its first block. Unpacking it first would
// fill the disk.
func (p *opener) checkClaims(ctx context.Context, f *os.File, written int64) error {
	s := newScan(ctx, p.meter(), f, written)
	for {
		m, err := s.next()
		switch {
		case s.beyond != nil:
			return s.beyond
		case err != nil && s.end+m.stored > p.Limits.TotalBytes:
			return unpacksToMore(p.label, p.Limits)
		case err != nil:
			return nil // the rest is not there yet, or damaged, which indexTar reports
		}
	}
}

func addMember(t *tree, m member, offset int64) error {
	switch m.kind {
	case regular:
		t.add(node{Entry: Entry{Name: m.name, Exec: m.exec, Size: m.size, Offset: offset}})
	case folder:
		t.addFolder(m.name)
	case symlink:
		t.add(node{Entry: Entry{Name: m.name}, link: m.target})
	case hardlink:
		return t.addHardLink(m.name, m.target)
	}
	return nil
}
