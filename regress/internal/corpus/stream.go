package corpus

import (
	"bufio"
	"context"
	"io"
	"os"
)

// pipe opens a named pipe, such as a shell's <(zcat …).
func (p *opening) pipe(ctx context.Context) (*Corpus, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, cannotRead(p.label, "", err)
	}
	defer f.Close()
	return p.stream(ctx, f)
}

// stream opens an archive that can be read only once.
func (p *opening) stream(ctx context.Context, src io.Reader) (*Corpus, error) {
	in, end := interruptible(ctx, src)
	defer end()
	head := bufio.NewReaderSize(in, 64<<10)
	first, err := head.Peek(blockBytes)
	if err != nil && err != io.EOF {
		if err := done(ctx, p.label); err != nil {
			return nil, err
		}
		return nil, cannotRead(p.label, "", err)
	}
	form, err := recognise(p.label, "", first)
	if err != nil {
		return nil, err
	}
	file, t, err := p.unpacked(ctx, form, head, "")
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

// interruptible makes reads end with the context, though a read of a terminal
// or a pipe cannot be called off: it is left behind. End releases the reader.
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
