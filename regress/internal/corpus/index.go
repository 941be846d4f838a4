package corpus

import (
	"context"
	"io"
	"os"
)

// index reads a tar's headers, and of the contents nothing. Sparse says that
// the archive cannot be addressed in place and must be expanded first; the tree
// is then nil.
func (p *opening) index(ctx context.Context, f *os.File) (t *tree, sparse bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, false, cannotRead(p.label, "", err)
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
			err = take(t, m, s.cursor.pos)
		}
		if err != nil {
			return nil, false, err
		}
	}
	rest, err := s.trailing()
	switch {
	case err != nil:
		return nil, false, err
	case s.open:
		p.Warn(s.mayBeCut())
	case rest > 0:
		p.Warn(s.goesOn(rest))
	}
	return t, false, nil
}

// claims looks at the headers in the beginning of a tar that is being unpacked,
// and returns the error of a limit that they pass. A bomb says in its first
// block how large it is; to unpack it first would fill the disk.
func (p *opening) claims(ctx context.Context, f *os.File, written int64) error {
	s := newScan(ctx, p.meter(), f, written)
	for {
		m, err := s.next()
		switch {
		case s.beyond != nil:
			return s.beyond
		case err != nil && s.end+m.stored > p.Limits.TotalBytes:
			return unpacksToMore(p.label, p.Limits)
		case err != nil:
			return nil // the rest is not there yet, or damaged, which the index tells
		}
	}
}

func take(t *tree, m member, offset int64) error {
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
