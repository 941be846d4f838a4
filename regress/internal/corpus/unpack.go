package corpus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// unpackToSpool decompresses a whole archive into the spool.
func (p *opener) unpackToSpool(ctx context.Context, form format, src io.Reader, key string) (*os.File, *tree, error) {
	x, err := p.spool.create(p.label, key == "")
	if err != nil {
		return nil, nil, err
	}
	n, err := p.unpack(ctx, form, src, x)
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	t, err := p.indexTar(ctx, x.r)
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	file, err := x.keep(p.label, key)
	if err != nil {
		return nil, nil, err
	}
	how := "for this run"
	if key != "" {
		how = "once; the next run uses it again"
	}
	p.Note(fmt.Sprintf("%s: unpacked to %s (%s) %s", p.label, p.spool.dir, readable.BinarySize(n), how))
	return file, t, nil
}

// unpack copies the uncompressed stream into a spool file and returns its length in bytes. It
// checks the first block before it writes anything.
func (p *opener) unpack(ctx context.Context, form format, src io.Reader, x *scratch) (int64, error) {
	in := &watchedReader{r: src}
	d, err := decoder(ctx, form, p.label, in)
	if err != nil {
		return 0, p.unpackError(ctx, form, in, err)
	}
	defer d.Close()
	r := bufio.NewReaderSize(d, 256<<10)
	head, err := r.Peek(blockBytes)
	if err != nil && err != io.EOF {
		return 0, p.unpackError(ctx, form, in, err)
	}
	if sniff(head) != plain {
		return 0, fault.Inputf("%s is %s, but its content is not a tar; pack the sources by tar first", p.label, form)
	}
	out := &boundedWriter{ctx: ctx, label: p.label, dir: p.spool.dir, limits: p.Limits, w: x.w}
	out.claims = func(written int64) error { return p.checkClaims(ctx, x.r, written) }
	if _, err := io.Copy(out, struct{ io.Reader }{r}); err != nil {
		return 0, p.unpackError(ctx, form, in, err)
	}
	return out.written, nil
}

func (p *opener) unpackError(ctx context.Context, form format, in *watchedReader, err error) error {
	if err := stopError(ctx, p.label); err != nil {
		return err
	}
	if known, ok := errors.AsType[*finalError](err); ok {
		return known.err
	}
	if err := in.failure(); err != nil {
		return readError(p.label, "", err)
	}
	return fault.Inputf("%s is damaged or incomplete: its %s stream: %w; copy or make it again", p.label, form, err)
}

// A watchedReader remembers failures of the source itself. Decoders, and even more the xz program,
// report them like damage of the archive.
type watchedReader struct {
	r   io.Reader
	err atomic.Pointer[error]
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err.Store(&err)
	}
	return n, err
}

func (w *watchedReader) failure() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
}
