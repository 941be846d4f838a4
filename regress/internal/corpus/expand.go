package corpus

import (
	"archive/tar"
	"bufio"
	"context"
	"io"
	"os"
)

// expandSparse copies an archive with sparse entries into the spool, with holes filled. A lane
// addresses a content by offset and size alone.
func (p *opener) expandSparse(ctx context.Context, f *os.File, key string) (*os.File, *tree, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, readError(p.label, "", err)
	}
	x, err := p.spool.create(p.label, key == "")
	if err != nil {
		return nil, nil, err
	}
	out := &boundedWriter{ctx: ctx, label: p.label, dir: p.spool.dir, limits: p.Limits, w: x.w}
	s := newScan(ctx, p.meter(), f, info.Size())
	err = expand(s, out)
	if err == nil {
		err = p.copyOverrun(s, x.w, out.written)
	}
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	t, _, err := p.indexTar(ctx, x.r)
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	return p.keepScratch(x, key, out.written, t)
}

// expand writes the checked members, without data that a corpus does not need, as a new archive.
func expand(s *scan, out *boundedWriter) error {
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
		end = w.Flush // no end marker here either: each run must report that
	}
	if err := end(); err != nil {
		return err
	}
	return buffer.Flush()
}

// copyOverrun makes the expanded archive continue after its end marker if the original does. It
// adds a hole of the same length, so that each run reports it.
func (p *opener) copyOverrun(s *scan, w *os.File, written int64) error {
	rest, err := s.trailingBytes()
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
		return spoolError(p.label, p.spool.dir, err)
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
