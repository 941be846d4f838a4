package corpus

import (
	"context"
	"io"
	"os"
)

// archive opens a file that holds an archive.
func (p *opening) archive(ctx context.Context) (*Corpus, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, cannotRead(p.label, "", err)
	}
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	src, err := sourceOf(p.Path, f)
	if err != nil {
		return nil, cannotRead(p.label, "", err)
	}
	form, err := p.recogniseFile(f)
	if err != nil {
		return nil, err
	}
	file, t, err := p.address(ctx, form, f, src.key())
	if err != nil {
		return nil, err
	}
	if file == f {
		f = nil // the corpus keeps it
	}
	c, err := p.finish(&Corpus{file: file, source: src}, t)
	if err == nil {
		err = c.Changed() // while it was indexed or unpacked
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return c, nil
}

func (p *opening) recogniseFile(f *os.File) (format, error) {
	head := make([]byte, blockBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return unknown, cannotRead(p.label, "", err)
	}
	return recognise(p.label, p.Path, head[:n])
}

// address returns a tar in which every content stands as it is, and its tree:
// the file itself, what an earlier run unpacked of it, or what this one does.
func (p *opening) address(ctx context.Context, form format, f *os.File, key string) (*os.File, *tree, error) {
	if form == plain {
		t, sparse, err := p.index(ctx, f)
		if err != nil || !sparse {
			return f, t, err
		}
	}
	if kept := p.spool.find(key); kept != nil {
		t, sparse, err := p.index(ctx, kept)
		if err == nil && !sparse {
			return kept, t, nil
		}
		kept.Close()
		if err := done(ctx, p.label); err != nil {
			return nil, nil, err
		}
		// Damaged since: unpack again, over it.
	}
	if form == plain {
		return p.expanded(ctx, f, key)
	}
	return p.unpacked(ctx, form, f, key)
}
