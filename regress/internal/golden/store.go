// Package golden stores outcomes: one per case, with the contents of its parts. Contents are
// addressed by digest and stored once. The file format has two uses: the golden of a check, and the
// differing outcomes of a run. Comments call both a store.
//
// A store is one SQLite file in rollback-journal mode, without other files beside it at rest. A
// Writer builds a new one under another name and renames it at the end. A Store reads one. Update
// changes one in place, in a single transaction. All three detect damage: opening checks a digest
// over all rows, and reading checks the digest of the content.
//
// It must not judge outcomes, and it runs nothing. README.md has the layout and measurements.
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
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Store is an open store, for reading. It is safe for concurrent use. The file and its folder need
// not be writable.
//
// If an Update changes the store meanwhile, the Store answers from the state at Open for as long as
// it can. After that it returns an error of class Input. It never mixes the two states.
type Store struct {
	path     string
	format   int64
	meta     Meta
	shared   []byte // digest of the table shared
	digest   outcome.Digest
	index    index
	seed     maphash.Seed
	db       *sql.DB
	record   *sql.Stmt
	contents *contents
}

// connectionsMax bounds the reads that run at once. Each connection has a cache and, during a read,
// a thread.
const connectionsMax = 4

// Open opens the store at path and checks all rows against their digest, in about 2 µs a case. It
// returns an error of class Input for a file that is not a golden, has a newer format or is
// damaged, and for a foreign journal beside it. It first undoes a change that was killed. Without
// write permission for that, the error is of class Environment.
func Open(path string) (*Store, error) {
	path = resolve(path)
	info, err := checkFiles(path)
	if err != nil {
		return nil, err
	}
	s, err := open(path, info)
	if needsRollback(err) {
		if err := rollBackLocked(path); err != nil {
			return nil, err
		}
		s, err = open(path, info)
	}
	if err != nil {
		return nil, classify(path, err)
	}
	return s, nil
}

// rollBackLocked undoes a killed change, unless another process is doing it.
func rollBackLocked(path string) error {
	l, err := acquire(path)
	if errors.Is(err, fs.ErrPermission) {
		return interruptedError(path, err)
	}
	if err != nil {
		return err
	}
	defer l.release()
	return rollBack(context.Background(), path)
}

// open does not classify errors.
func open(path string, info fs.FileInfo) (*Store, error) {
	db, err := openDatabase(path, readOnly)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connectionsMax)
	db.SetMaxIdleConns(connectionsMax)
	s := &Store{path: path, seed: maphash.MakeSeed(), db: db}
	if err := s.load(context.Background(), info); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// load reads everything except the contents.
func (s *Store) load(ctx context.Context, info fs.FileInfo) error {
	// One transaction, so that a commit between two statements does not look like damage.
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // it only read
	d, err := checkTables(ctx, tx, s.path)
	if err != nil {
		return err
	}
	if err := checkSize(ctx, tx, s.path, info); err != nil {
		return err
	}
	s.format, s.shared = d.format, d.shared
	if s.meta, err = decodeMeta(d.meta); err != nil {
		return err
	}
	rows, nameBytes := 0, int64(0)
	if err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(length(name)), 0) FROM outcome").Scan(&rows, &nameBytes); err != nil {
		return err
	}
	s.index.grow(rows, min(nameBytes, info.Size())) // a damaged row may claim any length
	if s.digest, err = scan(ctx, tx, d, s.indexRow); err != nil {
		return err
	}
	if err := d.checkDigest(s.digest); err != nil {
		return err
	}
	if s.record, err = s.db.PrepareContext(ctx, "SELECT digest, record FROM outcome WHERE name=?"); err != nil {
		return err
	}
	s.contents, err = newContents(s.db.PrepareContext, s.classifyRead)
	return err
}

func (s *Store) indexRow(r row) error {
	if len(r.record) <= flagsAt {
		return fmt.Errorf("case %s lacks its record", name.Print(string(r.name)))
	}
	version, flags, head := headOf(r.record)
	e := entry{
		digest: outcome.Digest(r.digest), origin: int32(head.Origin),
		flaky: flags&flagFlaky != 0, wall: head.Cost.Wall, sum: s.sum(r),
	}
	if version == recordVersionV1 && e.flaky {
		rec, err := r.decode()
		if err != nil {
			return err
		}
		e.digest = rec.Outcome.Digest()
	}
	s.index.add(r.name, head.Source, e)
	return checkOrigin(s.index.name(s.Len()-1), head.Origin, len(s.meta.Accepts))
}

// sum returns a checksum of a row. It is valid while the store is open.
func (s *Store) sum(r row) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.Write(r.digest)
	h.Write(r.record)
	return h.Sum64()
}

// Close closes the file. Open readers of contents then fail.
func (s *Store) Close() error {
	if s.contents != nil {
		s.contents.close()
	}
	return s.db.Close()
}

// Format returns the version of the file's format.
func (s *Store) Format() int { return int(s.format) }

// Meta returns how the store was made.
func (s *Store) Meta() Meta { return s.meta }

// Digest returns the digest over the meta and all rows, which identifies the state of this file.
// Any change of the file changes it, even another record with the same outcomes. Use the outcomes
// to compare goldens.
func (s *Store) Digest() outcome.Digest { return s.digest }

// Len returns the number of cases.
func (s *Store) Len() int { return len(s.index.entries) }

// Names returns the names of all cases, sorted by their bytes.
func (s *Store) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.index.entries {
			if !yield(s.index.name(i)) {
				return
			}
		}
	}
}

// OutcomeDigest returns the Digest of the outcome of a case, from memory.
func (s *Store) OutcomeDigest(caseName string) (outcome.Digest, bool) {
	_, e, ok := s.index.find(caseName)
	return e.digest, ok
}

// Flaky reports whether a case has a flaky part or ending, from memory.
func (s *Store) Flaky(caseName string) bool {
	_, e, _ := s.index.find(caseName)
	return e.flaky
}

// Wall returns how long a case took when it was recorded, from memory; 0 for an unknown case.
func (s *Store) Wall(caseName string) time.Duration {
	_, e, _ := s.index.find(caseName)
	return e.wall
}

// Source returns the digest of a case's source when its outcome was made, from memory; zero if
// unknown. It must not be called after DropSources.
func (s *Store) Source(caseName string) outcome.Digest {
	i, _, ok := s.index.find(caseName)
	if !ok {
		return outcome.Digest{}
	}
	return s.index.sources[i]
}

// DropSources frees the memory of the digests that Source returns: 32 MB for a million cases.
func (s *Store) DropSources() { s.index.sources = nil }

// Origin returns the Record.Origin of a case, from memory.
func (s *Store) Origin(caseName string) int {
	_, e, _ := s.index.find(caseName)
	return int(e.origin)
}

// Get returns the record of a case.
func (s *Store) Get(caseName string) (Record, bool, error) {
	_, e, ok := s.index.find(caseName)
	if !ok {
		return Record{}, false, nil
	}
	r := row{name: []byte(caseName)}
	err := s.record.QueryRow(r.name).Scan(&r.digest, &r.record)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.sum(r) != e.sum {
		err = fmt.Errorf("case %s has changed", name.Print(caseName))
	}
	var rec Record
	if err == nil {
		rec, err = r.decode()
	}
	if err != nil {
		return Record{}, false, s.classifyRead(err)
	}
	return rec, true, nil
}

// Content returns a reader of p's content. p must be a part that Get returned. Damaged content ends
// in an error of class Input before its last byte. errNoContent means that the store keeps no
// content of p. Close never fails.
func (s *Store) Content(p outcome.Part) (io.ReadCloser, error) {
	r, err := s.contents.open(p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Bytes returns p's whole content. The caller must expect p.Size bytes in memory.
func (s *Store) Bytes(p outcome.Part) ([]byte, error) {
	r, err := s.contents.open(p)
	if err != nil {
		return nil, err
	}
	return r.all()
}

// classifyRead classifies an error of a read after Open: either somebody changed the file since, or
// it is damaged.
func (s *Store) classifyRead(err error) error {
	var digest []byte // over all rows, in any format
	e := s.db.QueryRow("SELECT digest FROM golden WHERE id=1").Scan(&digest)
	if needsRollback(err) || needsRollback(e) || e == nil && !bytes.Equal(digest, s.digest[:]) {
		return fault.Inputf("golden %s was changed since it was opened: run this again", s.path)
	}
	return classify(s.path, err)
}

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

// scan calls visit for every row in the order of names and returns the digest
// over them and d. Errors are not classified.
func scan(ctx context.Context, q querier, d description, visit func(row) error) (outcome.Digest, error) {
	sum := newRowSum(d)
	err := eachRow(ctx, q, "SELECT name, digest, record FROM outcome ORDER BY name", nil, func(rows *sql.Rows) error {
		var name, digest, record sql.RawBytes
		if err := rows.Scan(&name, &digest, &record); err != nil {
			return err
		}
		r := row{name, digest, record}
		if len(r.digest) != len(outcome.Digest{}) {
			return errors.New("a row without a digest")
		}
		if err := sum.row(r); err != nil {
			return err
		}
		return visit(r)
	})
	return outcome.Digest(sum.hash.Sum(nil)), err
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
