package corpus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"muster/internal/readable"
	"os/exec"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// zstdWindowMax is how far back a zstd frame may refer, in bytes. All of it is in memory. The zstd
// program has the same limit without --long.
const zstdWindowMax = 128 << 20

// decoder returns the uncompressed stream. Consecutive gzip members, zstd frames or xz streams are
// one stream. label names the archive in errors. Close ends the decoding. Read returns the errors
// of the stream.
func decoder(ctx context.Context, f format, label string, src io.Reader) (io.ReadCloser, error) {
	switch f {
	case gzipped:
		return gzip.NewReader(bufio.NewReaderSize(src, 256<<10))
	case zstandard:
		d, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(2), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowMax))
		if err != nil {
			return nil, err
		}
		return zstdStream{d.IOReadCloser()}, nil
	case xzipped:
		return xzDecoder(ctx, label, src)
	}
	return io.NopCloser(src), nil
}

type zstdStream struct{ io.ReadCloser }

func (z zstdStream) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("%w (%s); repack it without --long", err, readable.BinarySize(zstdWindowMax))
	}
	return n, err
}

// xzDecoder uses the xz program if it is installed. The program is twelve times as fast as the
// library, and bounds its memory.
func xzDecoder(ctx context.Context, label string, src io.Reader) (io.ReadCloser, error) {
	if path, err := exec.LookPath("xz"); err == nil {
		if p, err := startXZ(ctx, path, label, src); err == nil {
			return p, nil
		}
	}
	r, err := xz.NewReader(newXZGuard(src))
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}
