package corpus

import (
	"bufio"
	"context"
	"io"
	"os"
)

// openPipe opens a named pipe, such as a shell's <(zcat …).
func (p *opener) openPipe(ctx context.Context) (*Corpus, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	defer f.Close()
	return p.openStream(ctx, f)
}

// openStream opens an archive that can be read only once.
func (p *opener) openStream(ctx context.Context, src io.Reader) (*Corpus, error) {
	in, end := interruptible(ctx, src)
	defer end()
	head := bufio.NewReaderSize(in, 64<<10)
	first, err := head.Peek(blockBytes)
	if err != nil && err != io.EOF {
		if err := stopError(ctx, p.label); err != nil {
			return nil, err
		}
		return nil, readError(p.label, "", err)
	}
	form, err := recognise(p.label, "", first)
	if err != nil {
		return nil, err
	}
	file, t, err := p.unpackToSpool(ctx, form, head, "")
	if err != nil {
		return nil, err
	}
	c, err := p.finish(&Corpus{file: file}, t)
	if err != nil {
		file.Close()
		return nil, err
	}
	return c, nil
}

// interruptible makes reads end with the context. A read of a terminal or a pipe cannot be
// cancelled, so it is left behind. end releases the reader.
func interruptible(ctx context.Context, src io.Reader) (in io.Reader, end func()) {
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{src}, make([]byte, 256<<10))
		w.CloseWithError(err)
	}()
	return r, func() {
		stop()
		r.Close()
	}
}
