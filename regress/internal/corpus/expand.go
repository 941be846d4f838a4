package corpus

import (
	"archive/tar"
	"bufio"
	"context"
	"io"
	"os"
)

// expanded copies an archive with sparse entries into the spool, holes filled:
// a lane addresses a content by offset and size alone.
func (p *opening) expanded(ctx context.Context, f *os.File, key string) (*os.File, *tree, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, cannotRead(p.label, "", err)
	}
	x, err := p.spool.create(p.label, key == "")
	if err != nil {
		return nil, nil, err
	}
	out := &bounded{ctx: ctx, label: p.label, dir: p.spool.dir, limits: p.Limits, w: x.w}
	s := newScan(ctx, p.meter(), f, info.Size())
	err = expand(s, out)
	if err == nil {
		err = p.goOn(s, x.w, out.written)
	}
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	t, _, err := p.index(ctx, x.r)
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	return p.kept(x, key, out.written, t)
}

// expand writes the members, checked and without anything that a corpus does
// not need, as a new archive.
func expand(s *scan, out *bounded) error {
	buffer := bufio.NewWriterSize(out, 256<<10)
	w := tar.NewWriter(buffer)
	for {
		m, err := s.next()
		if err == io.EOF {
			break
		}
		if err == nil && m.kind != aside {
			err = writeMember(s, w, m)
		}
		if err != nil {
			return err
		}
	}
	end := w.Close
	if s.open {
		end = w.Flush // no end marker here either: each run is to hear of it
	}
	if err := end(); err != nil {
		return err
	}
	return buffer.Flush()
}

// goOn makes an expanded archive go on after its end marker when the other
// does, by as many bytes, which take no room: each run is to hear of it.
func (p *opening) goOn(s *scan, w *os.File, written int64) error {
	rest, err := s.trailing()
	if err != nil || rest == 0 {
		return err
	}
	if rest > p.Limits.TotalBytes-written {
		return unpacksToMore(p.label, p.Limits)
	}
	_, err = w.WriteAt([]byte{1}, written)
	if err == nil {
		err = w.Truncate(written + rest)
	}
	if err != nil {
		return spoolFault(p.label, p.spool.dir, err)
	}
	return nil
}

func writeMember(s *scan, w *tar.Writer, m member) error {
	h := &tar.Header{Name: m.name, Linkname: m.target, Size: m.size, Mode: 0o644}
	if m.exec {
		h.Mode = 0o755
	}
	switch m.kind {
	case regular:
		h.Typeflag = tar.TypeReg
	case folder:
		h.Typeflag, h.Name = tar.TypeDir, m.name+"/"
	case symlink:
		h.Typeflag = tar.TypeSymlink
	case hardlink:
		h.Typeflag = tar.TypeLink
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	if m.kind != regular {
		return nil
	}
	return s.copyTo(w)
}
