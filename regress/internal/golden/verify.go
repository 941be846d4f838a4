package golden

import (
	"context"
	"database/sql"
	"errors"
	"io"

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
	orphans, err := orphanIDs(ctx, q, live)
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

// orphanIDs returns the blob ids of pieces that are not in live.
func orphanIDs(ctx context.Context, q querier, live map[int64]bool) ([]int64, error) {
	rows, err := q.QueryContext(ctx, "SELECT DISTINCT id>>? FROM piece", pieceShift)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if !live[id] {
			all = append(all, id)
		}
	}
	return all, rows.Err()
}
