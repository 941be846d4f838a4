package golden

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"muster/regress/internal/outcome"
)

// pieceMax is the most bytes of content in one piece. It bounds the memory
// that content takes on its way, however big it is; most is a single piece.
const pieceMax = 256 << 10

// codec says how a piece is stored.
type codec int64

// The codecs, a closed set and part of the file's format.
const (
	raw codec = iota
	zstandard
)

// piece is one row of its table.
type piece struct {
	id    int64
	codec codec
	data  []byte
}

// ErrContent is returned by Put for content that has not the size or the digest
// of its part.
var ErrContent = errors.New("content is not what its part says")

// packer cuts contents into pieces and compresses them. It is safe for
// concurrent use.
type packer struct {
	zip     *zstd.Encoder
	buffers sync.Pool // of *buffers
}

type buffers struct{ plain, packed []byte }

func newPacker() (*packer, error) {
	// No checksum: a SHA-256 is over it all.
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(pieceMax), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	return &packer{zip: zip, buffers: sync.Pool{New: func() any {
		return &buffers{make([]byte, pieceMax), make([]byte, 0, pieceMax)}
	}}}, nil
}

// pack reads the content of p from r and calls emit with each piece of it, in
// the order of their ids, which begin at first. When it returns an error, what
// was emitted is not that content.
func (k *packer) pack(r io.Reader, p outcome.Part, first int64, emit func(piece) error) error {
	b := k.buffers.Get().(*buffers)
	defer k.buffers.Put(b)
	sum := sha256.New()
	id := first
	for left := p.Size; left > 0; id++ {
		plain := b.plain[:min(left, pieceMax)]
		n, err := io.ReadFull(r, plain)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: %d bytes, not %d", ErrContent, p.Size-left+int64(n), p.Size)
		}
		if err != nil {
			return fmt.Errorf("content: %w", err)
		}
		sum.Write(plain)
		if err := emit(k.piece(id, plain, b)); err != nil {
			return err
		}
		left -= int64(len(plain))
	}
	if n, err := io.ReadFull(r, b.plain[:1]); n > 0 {
		return fmt.Errorf("%w: more than %d bytes", ErrContent, p.Size)
	} else if !errors.Is(err, io.EOF) {
		return fmt.Errorf("content: %w", err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != p.Digest {
		return fmt.Errorf("%w: it has another digest", ErrContent)
	}
	return nil
}

func (k *packer) piece(id int64, plain []byte, b *buffers) piece {
	b.packed = k.zip.EncodeAll(plain, b.packed[:0])
	c, data := zstandard, b.packed
	if len(data) >= len(plain) {
		c, data = raw, plain
	}
	return piece{id, c, append([]byte(nil), data...)}
}

// unpacker is the way back. It is safe for concurrent use.
type unpacker struct{ zip *zstd.Decoder }

func newUnpacker() (*unpacker, error) {
	// The limit on capacity bounds what a damaged or hostile piece can take.
	zip, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true),
		zstd.WithDecoderMaxMemory(8*pieceMax), zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("decompression: %w", err)
	}
	return &unpacker{zip}, nil
}

func (u *unpacker) close() { u.zip.Close() }

// unpack returns the plain bytes of a piece, which must be size of them.
func (u *unpacker) unpack(p piece, size int64) ([]byte, error) {
	plain := p.data
	switch p.codec {
	case raw:
	case zstandard:
		var err error
		if plain, err = u.zip.DecodeAll(p.data, make([]byte, 0, size)); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("codec %d is not known", p.codec)
	}
	if int64(len(plain)) != size {
		return nil, fmt.Errorf("%d bytes where there should be %d", len(plain), size)
	}
	return plain, nil
}
