package golden

import (
	"context"
	"database/sql"
	"errors"

	"muster/regress/internal/outcome"
)

// blob is one row of the table blob.
type blob struct {
	digest outcome.Digest
	id     int64
	size   int64
}

// blobs returns the whole table of contents.
func blobs(ctx context.Context, q querier) ([]blob, error) {
	rows, err := q.QueryContext(ctx, "SELECT digest, id, size FROM blob")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []blob
	for rows.Next() {
		var b blob
		var digest sql.RawBytes
		if err := rows.Scan(&digest, &b.id, &b.size); err != nil {
			return nil, err
		}
		if len(digest) != len(b.digest) {
			return nil, errors.New("a content without a digest")
		}
		b.digest = outcome.Digest(digest)
		all = append(all, b)
	}
	return all, rows.Err()
}

// dropBlob removes a blob and its pieces.
func dropBlob(ctx context.Context, q querier, b blob) error {
	if _, err := q.ExecContext(ctx, "DELETE FROM blob WHERE digest=?", b.digest[:]); err != nil {
		return err
	}
	return dropPieces(ctx, q, b.id)
}

// dropPieces removes the pieces of the blob with the given id.
func dropPieces(ctx context.Context, q querier, id int64) error {
	_, err := q.ExecContext(ctx, "DELETE FROM piece WHERE id>=? AND id<?", id<<pieceShift, (id+1)<<pieceShift)
	return err
}

// lastBlob returns the highest id that any piece has used.
func lastBlob(ctx context.Context, q querier) (int64, error) {
	var id sql.NullInt64
	err := q.QueryRowContext(ctx, "SELECT max(id) FROM piece").Scan(&id)
	return id.Int64 >> pieceShift, err
}

// sink writes rows through one connection. Only one goroutine may use it.
type sink struct {
	conn                 *sql.Conn
	piece, blob, outcome *sql.Stmt
}

func newSink(ctx context.Context, conn *sql.Conn) (*sink, error) {
	s := &sink{conn: conn}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.piece, "INSERT INTO piece(id, codec, data) VALUES(?, ?, ?)"},
		{&s.blob, "INSERT OR IGNORE INTO blob(digest, id, size) VALUES(?, ?, ?)"},
		{&s.outcome, "INSERT OR REPLACE INTO outcome(name, digest, record) VALUES(?, ?, ?)"},
	} {
		var err error
		if *p.stmt, err = conn.PrepareContext(ctx, p.text); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// close closes the statements. Open ones would keep SQLite's connection and its locks alive after
// the close.
func (s *sink) close() {
	for _, stmt := range []*sql.Stmt{s.piece, s.blob, s.outcome} {
		if stmt != nil {
			stmt.Close()
		}
	}
}

func (s *sink) putPiece(ctx context.Context, p piece) error {
	_, err := s.piece.ExecContext(ctx, p.id, int64(p.codec), p.data)
	return err
}

// putBlob makes the pieces under b's id the content of b's digest. If another Put stored the same
// content before, it removes them.
func (s *sink) putBlob(ctx context.Context, b blob) error {
	result, err := s.blob.ExecContext(ctx, b.digest[:], b.id, b.size)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return dropPieces(ctx, s.conn, b.id)
}

func (s *sink) putRow(ctx context.Context, r row) error {
	_, err := s.outcome.ExecContext(ctx, r.name, r.digest, r.record)
	return err
}
