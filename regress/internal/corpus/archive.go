package corpus

import (
	"context"
	"io"
	"os"
)

// openArchive opens a file that holds an archive.
func (p *opener) openArchive(ctx context.Context) (*Corpus, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	src, err := sourceOf(p.Path, f)
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	form, err := p.recogniseFile(f)
	if err != nil {
		return nil, err
	}
	file, t, err := p.findTar(ctx, form, f, src.key())
	if err != nil {
		return nil, err
	}
	if file == f {
		f = nil // the corpus owns it now
	}
	c, err := p.finish(&Corpus{file: file, source: src}, t)
	if err == nil {
		err = c.Changed() // during indexing or unpacking
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return c, nil
}

func (p *opener) recogniseFile(f *os.File) (format, error) {
	head := make([]byte, blockBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return unknown, readError(p.label, "", err)
	}
	return recognise(p.label, p.Path, head[:n])
}

// findTar returns a tar that holds every content uncompressed and whole, with its tree. It is the
// file itself, the copy that an earlier run unpacked, or a new copy.
func (p *opener) findTar(ctx context.Context, form format, f *os.File, key string) (*os.File, *tree, error) {
	if form == plain {
		t, sparse, err := p.indexTar(ctx, f)
		if err != nil || !sparse {
			return f, t, err
		}
	}
	if kept := p.spool.find(key); kept != nil {
		t, sparse, err := p.indexTar(ctx, kept)
		if err == nil && !sparse {
			return kept, t, nil
		}
		kept.Close()
		if err := stopError(ctx, p.label); err != nil {
			return nil, nil, err
		}
		// Damaged since then: unpack it again.
	}
	if form == plain {
		return p.expandSparse(ctx, f, key)
	}
	return p.unpackToSpool(ctx, form, f, key)
}
