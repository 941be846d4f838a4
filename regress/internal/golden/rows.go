package golden

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// row is a case in the table outcome. Its slices are valid until the next row is read.
type row struct{ name, digest, record []byte }

// rowSum computes the digest over the description and all rows, in the order of names. The length
// of every value precedes it, so that different stores have different digests.
type rowSum struct {
	hash hash.Hash
	last []byte
	size []byte
}

func newRowSum(d description) *rowSum {
	s := &rowSum{hash: sha256.New()}
	fmt.Fprintf(s.hash, "muster golden %d\n", d.format)
	s.add(d.meta)
	if d.format > 1 {
		s.add(d.shared)
	}
	return s
}

func (s *rowSum) add(b []byte) {
	s.size = binary.AppendUvarint(s.size[:0], uint64(len(b)))
	s.hash.Write(s.size)
	s.hash.Write(b)
}

func (s *rowSum) row(r row) error {
	if s.last != nil && bytes.Compare(s.last, r.name) >= 0 {
		return fmt.Errorf("its rows are out of order at %s", name.Print(string(r.name)))
	}
	s.last = append(s.last[:0], r.name...)
	s.add(r.name)
	s.add(r.digest)
	s.add(r.record)
	return nil
}

func (s *rowSum) digest() outcome.Digest { return outcome.Digest(s.hash.Sum(nil)) }

// scan calls visit for every row in the order of names and returns the digest
// over them and d. Errors are not classified.
func scan(ctx context.Context, q querier, d description, visit func(row) error) (outcome.Digest, error) {
	rows, err := q.QueryContext(ctx, "SELECT name, digest, record FROM outcome ORDER BY name")
	if err != nil {
		return outcome.Digest{}, err
	}
	defer rows.Close()
	sum := newRowSum(d)
	for rows.Next() {
		var name, digest, record sql.RawBytes
		if err := rows.Scan(&name, &digest, &record); err != nil {
			return outcome.Digest{}, err
		}
		r := row{name, digest, record}
		if len(r.digest) != len(outcome.Digest{}) {
			return outcome.Digest{}, errors.New("a row without a digest")
		}
		if err := sum.row(r); err != nil {
			return outcome.Digest{}, err
		}
		if err := visit(r); err != nil {
			return outcome.Digest{}, err
		}
	}
	return sum.digest(), rows.Err()
}

// decode returns the record of a row.
func (r row) decode() (Record, error) {
	rec, err := decodeRecord(string(r.name), r.record, outcome.Digest(r.digest))
	if err != nil {
		return Record{}, fmt.Errorf("case %s: %w", name.Print(string(r.name)), err)
	}
	return rec, nil
}

// get returns the record of a case from a connection that may be writing.
func get(ctx context.Context, q querier, caseName string) (Record, bool, error) {
	r := row{name: []byte(caseName)}
	err := q.QueryRowContext(ctx, "SELECT digest, record FROM outcome WHERE name=?", r.name).Scan(&r.digest, &r.record)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Record{}, false, nil
	case err != nil:
		return Record{}, false, err
	case len(r.digest) != len(outcome.Digest{}):
		return Record{}, false, errors.New("a row without a digest")
	}
	rec, err := r.decode()
	return rec, err == nil, err
}
