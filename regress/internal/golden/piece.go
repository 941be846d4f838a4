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

// pieceMax is the largest piece of content, in bytes. It bounds the memory for contents of any
// size. Most contents are a single piece.
const pieceMax = 256 << 10

// codec is how a piece is stored.
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

// ErrContent is returned by Put for content that does not match the size or the digest of its part.
var ErrContent = errors.New("content does not match its part")

// packer cuts contents into pieces and compresses them. It is safe for
// concurrent use.
type packer struct {
	zip     *zstd.Encoder
	buffers sync.Pool // of *buffers
}

type buffers struct{ plain, packed []byte }

func newPacker() (*packer, error) {
	// No checksum: the content has a SHA-256.
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(pieceMax), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	return &packer{zip: zip, buffers: sync.Pool{New: func() any {
		return &buffers{make([]byte, pieceMax), make([]byte, 0, pieceMax)}
	}}}, nil
}

// pack reads the content of p from r and calls emit with each of its pieces. The ids of the pieces
// begin at first and ascend. After an error, the emitted pieces are not that content.
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
		return fmt.Errorf("%w: its digest differs", ErrContent)
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

// unpacker decompresses pieces. It is safe for concurrent use.
type unpacker struct{ zip *zstd.Decoder }

func newUnpacker() (*unpacker, error) {
	// The limit on capacity bounds the memory for a damaged or hostile piece.
	zip, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true),
		zstd.WithDecoderMaxMemory(8*pieceMax), zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("decompression: %w", err)
	}
	return &unpacker{zip}, nil
}

func (u *unpacker) close() { u.zip.Close() }

// unpack returns the plain bytes of a piece. Their number must be size.
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
		return nil, fmt.Errorf("unknown codec %d", p.codec)
	}
	if int64(len(plain)) != size {
		return nil, fmt.Errorf("%d bytes instead of %d", len(plain), size)
	}
	return plain, nil
}
