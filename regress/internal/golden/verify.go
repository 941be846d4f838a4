package golden

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// verify reads all rows and contents of an unfinished store. Errors are not
// classified.
func verify(ctx context.Context, conn *sql.Conn, stored []blob) error {
	there := make(map[outcome.Digest]int64, len(stored))
	for _, b := range stored {
		there[b.digest] = b.size
	}
	_, err := scan(ctx, conn, description{}, func(r row) error {
		rec, err := r.decode()
		for p := range WithContent(&rec.Outcome) {
			size, found := there[p.Digest]
			if p.Size > 0 && (!found || size != p.Size) {
				return errors.New("the content of a part is missing")
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	c, err := newContents(conn.PrepareContext, func(err error) error { return err })
	if err != nil {
		return err
	}
	defer c.close()
	for _, b := range stored {
		r, err := c.open(outcome.Part{Digest: b.digest, Size: b.size})
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return err
		}
	}
	return nil
}

// dropOrphans removes pieces without a blob: the beginning of content whose end was not committed.
func dropOrphans(ctx context.Context, q querier, stored []blob) error {
	live := make(map[int64]bool, len(stored))
	for _, b := range stored {
		live[b.id] = true
	}
	var orphans []int64
	err := eachRow(ctx, q, "SELECT DISTINCT id>>? FROM piece", []any{pieceShift}, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		if !live[id] {
			orphans = append(orphans, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range orphans {
		if err := dropPieces(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

// description is the one row of the table golden, with the format of the file.
type description struct {
	format int64
	meta   []byte
	sum    []byte // digest of meta: a repair checks meta by it
	shared []byte // digest of the table shared; empty when the files are not known
	digest []byte // digest over all rows; empty in an unfinished store
}

// decode returns the meta of a store.
func (d description) decode() (Meta, error) {
	m, err := decodeMeta(d.meta)
	m.TimesVary = d.format <= versionTimes
	return m, err
}

// readDescription reads the description of a file of the given format.
func readDescription(ctx context.Context, q querier, format int64) (description, error) {
	d := description{format: format}
	err := q.QueryRowContext(ctx, "SELECT meta, digest, sum, shared FROM golden WHERE id=1").Scan(&d.meta, &d.digest, &d.sum, &d.shared)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.New("its meta is missing")
	}
	if err == nil && !bytes.Equal(d.sum, metaSum(d.meta)) {
		err = errors.New("its meta does not match its digest")
	}
	return d, err
}

func metaSum(meta []byte) []byte {
	sum := outcome.Of(meta)
	return sum[:]
}

// writeMeta replaces the meta of a file.
func writeMeta(ctx context.Context, q querier, meta []byte) error {
	_, err := q.ExecContext(ctx, "UPDATE golden SET meta=?, sum=? WHERE id=1", meta, metaSum(meta))
	return err
}

// formatOf returns the format of the database. It asks SQLite, because the header of the file
// may belong to a change that SQLite will roll back.
func formatOf(ctx context.Context, q querier, path string) (int64, error) {
	var format int64
	if err := q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&format); err != nil {
		return 0, err
	}
	return format, checkVersion(path, format)
}

// checkTables checks format and schema, and returns the description.
func checkTables(ctx context.Context, q querier, path string) (description, error) {
	format, err := formatOf(ctx, q, path)
	if err != nil {
		return description{}, err
	}
	if err := checkSchema(ctx, q); err != nil {
		return description{}, err
	}
	return readDescription(ctx, q, format)
}

// checkDigest reports whether the digest over all rows is the one that the file has.
func (d description) checkDigest(rows outcome.Digest) error {
	if !bytes.Equal(d.digest, rows[:]) {
		return errors.New("its rows do not match their digest")
	}
	return nil
}

// insertDescription inserts the one row of golden, without a digest, so that an unfinished
// store never opens as a finished one.
func insertDescription(ctx context.Context, q querier, meta []byte) error {
	_, err := q.ExecContext(ctx, "INSERT INTO golden(id, meta, sum, shared, digest) VALUES(1, ?, ?, x'', x'')", meta, metaSum(meta))
	return err
}

// rewrite encodes the records again for which change returns true. It holds them in memory until
// all rows are read.
func rewrite(ctx context.Context, q querier, change func(*Record) bool) error {
	var changed []row
	_, err := scan(ctx, q, description{}, func(r row) error {
		rec, err := r.decode()
		if err == nil && change(&rec) {
			changed = append(changed, rowOf(rec))
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range changed {
		if _, err := q.ExecContext(ctx, "UPDATE outcome SET digest=?, record=? WHERE name=?", r.digest, r.record, r.name); err != nil {
			return err
		}
	}
	return nil
}

// Bytes returns the whole content of a part that was Put. It serves rules that compare rewritten
// contents while a store is built. That is rare, so it prepares its statements each time.
func (w *Writer) Bytes(p outcome.Part) (b []byte, err error) {
	if !HasContent(p) {
		return nil, fmt.Errorf("%s: %w", name.Print(p.String()), errNoContent)
	}
	err = w.call(func(context.Context) error {
		c, err := newContents(w.committer.conn.PrepareContext, func(err error) error { return err })
		if err != nil {
			return err
		}
		defer c.close()
		r, err := c.open(p)
		if err != nil {
			return err
		}
		b, err = r.all()
		return err
	})
	return b, err
}
