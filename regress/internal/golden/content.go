package golden

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// errNoContent reports that the store keeps no content of a part.
var errNoContent = errors.New("the golden keeps no content of it")

// contents reads blobs. It is safe for concurrent use if its statements are.
type contents struct {
	zip         *zstd.Decoder
	blob, piece *sql.Stmt
	fail        func(error) error // classifies an error of a read
}

// preparer prepares a statement of a connection, or of a database.
type preparer func(context.Context, string) (*sql.Stmt, error)

// newContents makes statements for both tables with prepare.
func newContents(prepare preparer, fail func(error) error) (*contents, error) {
	ctx := context.Background()
	blob, err := prepare(ctx, "SELECT id, size FROM blob WHERE digest=?")
	if err != nil {
		return nil, fail(err)
	}
	row, err := prepare(ctx, "SELECT codec, data FROM piece WHERE id=?")
	if err != nil {
		blob.Close()
		return nil, fail(err)
	}
	zip, err := newDecoder()
	if err != nil {
		blob.Close()
		row.Close()
		return nil, err
	}
	return &contents{zip: zip, blob: blob, piece: row, fail: fail}, nil
}

func (c *contents) close() {
	c.zip.Close()
	c.blob.Close()
	c.piece.Close()
}

// open returns a reader of p's content.
func (c *contents) open(p outcome.Part) (*contentReader, error) {
	if !HasContent(p) {
		return nil, fmt.Errorf("%s: %w", name.Print(p.String()), errNoContent)
	}
	r := &contentReader{from: c, part: p, left: p.Size, sum: sha256.New()}
	if p.Size == 0 {
		// The empty content needs no blob. Its digest must still match.
		return r, r.finish()
	}
	var id, size int64
	err := c.blob.QueryRow(p.Digest[:]).Scan(&id, &size)
	if err == nil && size != p.Size {
		err = fmt.Errorf("it has %d bytes instead of %d", size, p.Size)
	}
	if err != nil {
		return nil, c.damaged(p, err)
	}
	r.next = id << pieceShift
	return r, nil
}

func (c *contents) damaged(p outcome.Part, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("it is not there")
	}
	if code(err) == -1 {
		err = fmt.Errorf("output %s of %s: %w", p.Digest, name.Print(p.String()), err)
	}
	return c.fail(err)
}

// contentReader reads one blob, piece by piece. It returns the last piece only if
// the whole content has its digest. So content of one piece is never wrong, and
// longer content that is damaged ends in an error.
type contentReader struct {
	from *contents
	part outcome.Part
	next int64 // id of the next piece
	left int64 // bytes that the pieces from next on hold
	sum  hash.Hash
	rest []byte // the part of the last piece that was not read yet
	err  error
}

// Read implements io.Reader.
func (r *contentReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.rest, r.err = r.nextPiece(); r.err != nil {
			return 0, r.err
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (r *contentReader) Close() error {
	r.left, r.rest, r.err = 0, nil, errors.New("content was closed")
	return nil
}

// nextPiece returns the next piece, or io.EOF.
func (r *contentReader) nextPiece() ([]byte, error) {
	switch {
	case r.err != nil:
		return nil, r.err
	case r.left == 0:
		return nil, io.EOF
	}
	p := piece{id: r.next}
	err := r.from.piece.QueryRow(r.next).Scan(&p.codec, &p.data)
	var plain []byte
	if err == nil {
		plain, err = unpack(r.from.zip, p, min(r.left, pieceMax))
	}
	if err != nil {
		return nil, r.from.damaged(r.part, err)
	}
	r.sum.Write(plain)
	r.next++
	r.left -= int64(len(plain))
	if r.left == 0 {
		err = r.finish()
	}
	return plain, err
}

// finish compares what was read with the digest that it should have.
func (r *contentReader) finish() error {
	if !bytes.Equal(r.sum.Sum(nil), r.part.Digest[:]) {
		return r.from.damaged(r.part, errors.New("its digest does not match"))
	}
	return nil
}

// all returns the whole content. It grows with what is really there, not with
// the size that a hostile record claims.
func (r *contentReader) all() ([]byte, error) {
	whole := []byte{}
	for {
		plain, err := r.nextPiece()
		switch {
		case errors.Is(err, io.EOF):
			return whole, nil
		case err != nil:
			return nil, err
		case int64(len(plain)) == r.part.Size:
			return plain, nil
		}
		whole = append(whole, plain...)
	}
}

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
	zip   *zstd.Encoder
	large sync.Pool // of *buffers, for contents above smallMax
}

type buffers struct{ plain, packed []byte }

func newBuffers(size int64) *buffers { return &buffers{make([]byte, size), make([]byte, 0, size)} }

// smallMax is the size of a content, in bytes, up to which its buffers are made for it alone. An
// engine may run thousands of cases at once, and most contents are small.
const smallMax = 32 << 10

func newPacker() (*packer, error) {
	// No checksum: the content has a SHA-256.
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(pieceMax), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("compression: %w", err)
	}
	return &packer{zip: zip, large: sync.Pool{New: func() any { return newBuffers(pieceMax) }}}, nil
}

// pack reads the content of p from r and calls emit with each of its pieces, whose data is valid until emit
// returns. The ids of the pieces begin at first and ascend. After an error, the emitted pieces are not that content.
func (k *packer) pack(r io.Reader, p outcome.Part, first int64, emit func(piece) error) error {
	var b *buffers
	if p.Size <= smallMax {
		b = newBuffers(max(p.Size, 1))
	} else {
		b = k.large.Get().(*buffers)
		defer k.large.Put(b)
	}
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
	return piece{id, c, data}
}

// putMemoryMax bounds the contents in the memory of all calls of Put, in bytes. Thousands of cases
// of an engine may end at once.
const putMemoryMax = 64 << 20

// memoryOf returns the bytes that a Put takes whose largest content has this size.
func memoryOf(content int64) int64 {
	if content <= smallMax {
		return 2 * content // plain and packed
	}
	return 2 * pieceMax
}

// newDecoder returns a decoder of pieces, which is safe for concurrent use.
func newDecoder() (*zstd.Decoder, error) {
	// The limit on capacity bounds the memory for a damaged or hostile piece.
	zip, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true),
		zstd.WithDecoderMaxMemory(8*pieceMax), zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		return nil, fmt.Errorf("decompression: %w", err)
	}
	return zip, nil
}

// unpack returns the plain bytes of a piece. Their number must be size.
func unpack(zip *zstd.Decoder, p piece, size int64) ([]byte, error) {
	plain := p.data
	switch p.codec {
	case raw:
	case zstandard:
		var err error
		if plain, err = zip.DecodeAll(p.data, make([]byte, 0, size)); err != nil {
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

// checkRecord refuses a record that no run can produce. Writers and readers both call it, so every
// written record can be read.
func checkRecord(r *Record) error {
	if r.Equal < 0 || r.Origin < 0 {
		return errors.New("a negative count")
	}
	o := &r.Outcome
	if err := checkEndings(o); err != nil {
		return err
	}
	for i := range o.Parts {
		p := &o.Parts[i]
		if i > 0 && !before(o.Parts[i-1].Key, p.Key) {
			return fmt.Errorf("%s is a duplicate or out of order", name.Print(p.String()))
		}
		if err := checkPart(p); err != nil {
			return fmt.Errorf("%s: %w", name.Print(p.String()), err)
		}
	}
	return nil
}

func checkEndings(o *outcome.Outcome) error {
	if o.Ending.Kind > regress.OutputLimit {
		return fmt.Errorf("unknown ending %d", uint8(o.Ending.Kind))
	}
	for i, e := range o.Others {
		switch {
		case e.Kind > regress.OutputLimit:
			return fmt.Errorf("unknown ending %d", uint8(e.Kind))
		case e == o.Ending || i > 0 && outcome.CompareEndings(o.Others[i-1], e) >= 0:
			return fmt.Errorf("ending %q is a duplicate or out of order", e)
		case o.Ending.Partial() && !e.Partial():
			return errors.New("a run that hit a limit replaced one that ended by itself")
		}
	}
	return nil
}

func before(a, b outcome.Key) bool {
	return a.Place < b.Place || a.Place == b.Place && a.Path < b.Path
}

func checkPart(p *outcome.Part) error {
	stream := p.Place != outcome.File
	switch {
	case p.Place > outcome.File || p.Form > outcome.Ignored:
		return errors.New("a part is neither a stream nor a file")
	case stream != (p.Path == ""):
		return errors.New("a stream has a path, or a file has none")
	case p.Form >= outcome.Gone && (p.Digest != outcome.Digest{} || p.Size != 0):
		return errors.New("a part that is gone or ignored has content")
	case p.Form == outcome.Ignored && p.Flaky:
		return errors.New("an ignored part is flaky")
	case p.Flaky != (p.Seen != 0) || p.Seen&^outcome.AllShapes != 0:
		return errors.New("the shapes of a part do not fit: only a flaky part has them")
	case len(p.Variants) > outcome.VariantsMax || len(p.Variants) > 0 && !p.Flaky:
		return fmt.Errorf("the variants of a part do not fit: only a flaky part has them, and at most %d", outcome.VariantsMax)
	case slices.ContainsFunc(p.Variants, func(v outcome.Variant) bool { return v.Form >= outcome.Gone }):
		return errors.New("a variant has content")
	}
	for _, v := range p.Variants {
		if err := checkContent(stream, v); err != nil {
			return err
		}
	}
	return checkContent(stream && p.Form != outcome.Ignored, outcome.Variant{Form: p.Form, Exec: p.Exec, Size: p.Size})
}

// checkContent checks the common fields of a part and a variant.
func checkContent(stream bool, v outcome.Variant) error {
	switch {
	case stream && (v.Form != outcome.Regular || v.Exec):
		return errors.New("a stream is not a regular file")
	case v.Exec && v.Form != outcome.Regular:
		return errors.New("a part other than a regular file is executable")
	case v.Size < 0:
		return errors.New("a size is negative")
	}
	return nil
}
