package corpus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"muster/regress/internal/fault"
)

// unpacked decompresses a whole archive into the spool.
func (p *opening) unpacked(ctx context.Context, form format, src io.Reader, key string) (*os.File, *tree, error) {
	x, err := p.spool.create(p.label, key == "")
	if err != nil {
		return nil, nil, err
	}
	n, err := p.unpack(ctx, form, src, x)
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	t, sparse, err := p.index(ctx, x.r)
	if err != nil {
		x.discard()
		return nil, nil, err
	}
	if sparse {
		defer x.discard()
		return p.expanded(ctx, x.r, key)
	}
	return p.kept(x, key, n, t)
}

// kept ends the writing of a spool file.
func (p *opening) kept(x *scratch, key string, n int64, t *tree) (*os.File, *tree, error) {
	file, err := x.keep(p.label, key)
	if err != nil {
		return nil, nil, err
	}
	how := "for this run"
	if key != "" {
		how = "once; the next run uses it again"
	}
	p.Note(fmt.Sprintf("%s: unpacked to %s (%s) %s", p.label, p.spool.dir, sized(n), how))
	return file, t, nil
}

// unpack copies the uncompressed stream into a spool file and returns its
// length in bytes. The first block is looked at before anything is written.
func (p *opening) unpack(ctx context.Context, form format, src io.Reader, x *scratch) (int64, error) {
	in := &watched{r: src}
	d, err := decoder(ctx, form, p.label, in)
	if err != nil {
		return 0, p.unpackFault(ctx, form, in, err)
	}
	defer d.Close()
	r := bufio.NewReaderSize(d, 256<<10)
	head, err := r.Peek(blockBytes)
	if err != nil && err != io.EOF {
		return 0, p.unpackFault(ctx, form, in, err)
	}
	if sniff(head) != plain {
		return 0, fault.Inputf("%s is %s, but what it holds is not a tar; pack the sources by tar first", p.label, form)
	}
	out := &bounded{ctx: ctx, label: p.label, dir: p.spool.dir, limits: p.Limits, w: x.w}
	out.claims = func(written int64) error { return p.claims(ctx, x.r, written) }
	if _, err := io.Copy(out, struct{ io.Reader }{r}); err != nil {
		return 0, p.unpackFault(ctx, form, in, err)
	}
	return out.written, nil
}

func (p *opening) unpackFault(ctx context.Context, form format, in *watched, err error) error {
	if err := done(ctx, p.label); err != nil {
		return err
	}
	var known *classified
	if errors.As(err, &known) {
		return known.err
	}
	if err := in.failure(); err != nil {
		return cannotRead(p.label, "", err)
	}
	return fault.Inputf("%s is damaged, or not whole: its %s stream: %w; copy or make it again", p.label, form, err)
}

// watched remembers that the source itself failed: a decoder, and the xz
// program still more, tells of it as if the archive were damaged.
type watched struct {
	r   io.Reader
	err atomic.Pointer[error]
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err.Store(&err)
	}
	return n, err
}

func (w *watched) failure() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
}
