package client

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// windowMax is the largest window of a decoder in bytes, so that an engine cannot exhaust the
// memory.
const windowMax = 32 << 20

// neither constructor fails with these options: they only check the options

func newEncoder(w io.Writer) *zstd.Encoder {
	zip, _ := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	return zip
}

func newDecoder(r io.Reader) *zstd.Decoder {
	zip, _ := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(windowMax), zstd.WithDecodeAllCapLimit(true))
	return zip
}
