package golden

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"hash"
	"maps"
	"slices"

	"muster/regress/internal/outcome"
)

// sharedSum computes the digest over the table shared, in the order of names.
type sharedSum struct {
	hash hash.Hash
	size []byte
}

func newSharedSum() *sharedSum {
	s := &sharedSum{hash: sha256.New()}
	s.hash.Write([]byte("shared files 1\n"))
	return s
}

func (s *sharedSum) add(name, digest []byte) {
	s.size = binary.AppendUvarint(s.size[:0], uint64(len(name)))
	s.hash.Write(s.size)
	s.hash.Write(name)
	s.hash.Write(digest)
}

func putShared(ctx context.Context, q querier, files map[string]outcome.Digest) error {
	if _, err := q.ExecContext(ctx, "DELETE FROM shared"); err != nil {
		return err
	}
	sum := newSharedSum()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		digest := files[name]
		if _, err := q.ExecContext(ctx, "INSERT INTO shared(name, digest) VALUES(?, ?)", []byte(name), digest[:]); err != nil {
			return err
		}
		sum.add([]byte(name), digest[:])
	}
	_, err := q.ExecContext(ctx, "UPDATE golden SET shared=? WHERE id=1", sum.hash.Sum(nil))
	return err
}

// Shared returns the digests of the files that all cases shared, by name, or nil if they are
// unknown. Each call reads and checks them anew, in about 2 µs a file. Open does not.
func (s *Store) Shared() (map[string]outcome.Digest, error) {
	files, err := readShared(context.Background(), s.db, s.description.shared)
	if err != nil {
		return nil, s.classifyRead(err)
	}
	return files, nil
}

// readShared reads the table, whose digest must be want. An empty want means that the files
// are unknown.
func readShared(ctx context.Context, q querier, want []byte) (map[string]outcome.Digest, error) {
	if len(want) == 0 {
		return nil, nil
	}
	files, sum := map[string]outcome.Digest{}, newSharedSum()
	err := eachRow(ctx, q, "SELECT name, digest FROM shared ORDER BY name", nil, func(rows *sql.Rows) error {
		var name, digest sql.RawBytes
		if err := rows.Scan(&name, &digest); err != nil {
			return err
		}
		if len(digest) != len(outcome.Digest{}) {
			return errors.New("a shared file without a digest")
		}
		files[string(name)] = outcome.Digest(digest)
		sum.add(name, digest)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sum.hash.Sum(nil), want) {
		return nil, errors.New("its list of shared files does not match its digest")
	}
	return files, nil
}
