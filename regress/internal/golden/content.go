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

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// errNoContent reports that the store keeps no content of a part.
var errNoContent = errors.New("the golden keeps no content of it")

// contents reads blobs. It is safe for concurrent use if its statements are.
type contents struct {
	zip         *unpacker
	blob, piece *sql.Stmt
	fail        func(error) error // classifies an error of a read
}

// newContents makes statements for both tables with prepare.
func newContents(prepare func(context.Context, string) (*sql.Stmt, error), fail func(error) error) (*contents, error) {
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
	zip, err := newUnpacker()
	if err != nil {
		blob.Close()
		row.Close()
		return nil, err
	}
	return &contents{zip: zip, blob: blob, piece: row, fail: fail}, nil
}

func (c *contents) close() {
	c.zip.close()
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
		plain, err = r.from.zip.unpack(p, min(r.left, pieceMax))
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
