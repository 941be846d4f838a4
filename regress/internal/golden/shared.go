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

// PutShared stores the digests of the files that all cases share, by name. It replaces those from
// before a Resume. Without PutShared they are unknown.
func (w *Writer) PutShared(files map[string]outcome.Digest) error {
	return w.call(func(ctx context.Context) error {
		err := w.committer.begin(ctx)
		if err == nil {
			err = putShared(ctx, w.committer.conn, files)
		}
		w.committer.fail(err) // a part of it must not be committed
		return err
	})
}

// SetTool replaces the files of the tool in the meta, once all cases have shown what it uses.
func (w *Writer) SetTool(files []ToolFile) error {
	return w.call(func(ctx context.Context) error {
		m := w.meta
		m.Tool = files
		meta, err := encodeMeta(m, nil)
		if err == nil {
			err = w.committer.begin(ctx)
		}
		if err == nil {
			err = writeMeta(ctx, w.committer.conn, meta)
		}
		w.committer.fail(err)
		return err
	})
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
	files, err := readShared(context.Background(), s.db, s.shared)
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
	rows, err := q.QueryContext(ctx, "SELECT name, digest FROM shared ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	files, sum := map[string]outcome.Digest{}, newSharedSum()
	for rows.Next() {
		var name, digest sql.RawBytes
		if err := rows.Scan(&name, &digest); err != nil {
			return nil, err
		}
		if len(digest) != len(outcome.Digest{}) {
			return nil, errors.New("a shared file without a digest")
		}
		files[string(name)] = outcome.Digest(digest)
		sum.add(name, digest)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if !bytes.Equal(sum.hash.Sum(nil), want) {
		return nil, errors.New("its list of shared files does not match its digest")
	}
	return files, nil
}
