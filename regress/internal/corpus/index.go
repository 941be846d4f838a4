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
	if s.open {
		p.Warn(s.mayBeCut())
	}
	if s.trailing() {
		p.Note(p.label + ": what follows the end of the archive is not read, as tar does; archives joined by cat must be joined by tar --concatenate")
	}
	return t, false, nil
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
