package golden

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Store is an open store, for reading. It is safe for concurrent use, and
// needs neither the file nor its folder to be writable.
//
// A store that is changed by an Update meanwhile goes on to answer from what
// was there at Open as long as it can, and with an error of class Input that
// says so when it can't; it never mixes the two.
type Store struct {
	path     string
	format   int64
	meta     Meta
	shared   []byte // digest of the table shared
	digest   outcome.Digest
	index    []entry // by name
	seed     maphash.Seed
	db       *sql.DB
	record   *sql.Stmt
	contents *contents
}

// entry is what is kept in memory of each case: all that a check needs to tell
// that a case is identical.
type entry struct {
	name   string
	digest outcome.Digest
	source outcome.Digest
	origin int
	flaky  bool
	wall   time.Duration
	sum    uint64 // of the row, which Get must find again
}

// connectionsMax bounds how many reads run at once; each connection has a
// cache and, while it reads, a thread.
const connectionsMax = 4

// Open opens the store at path and checks all rows against their digest: about
// 2 µs a case. What is no golden, of a newer format, or damaged is an error of
// class Input, and so is a journal beside it that is none. If a change of the file was killed it is undone first, and that
// needs write permission: without it the error is of class Environment.
func Open(path string) (*Store, error) {
	path = resolve(path)
	info, err := checkFiles(path)
	if err != nil {
		return nil, err
	}
	s, err := open(path, info)
	if hot(err) {
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

// rollBackLocked undoes a killed change, unless somebody is at it already.
func rollBackLocked(path string) error {
	l, err := acquire(path)
	if errors.Is(err, fs.ErrPermission) {
		return interrupted(path, err)
	}
	if err != nil {
		return err
	}
	defer l.release()
	return rollBack(context.Background(), path)
}

// open returns errors as they are.
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

// load reads everything but the contents.
func (s *Store) load(ctx context.Context, info fs.FileInfo) error {
	// One transaction, so that a commit between two statements is not taken
	// for damage.
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
	if s.digest, err = scan(ctx, tx, d, s.enter); err != nil {
		return err
	}
	if err := d.checkDigest(s.digest); err != nil {
		return err
	}
	if s.record, err = s.db.PrepareContext(ctx, "SELECT digest, record FROM outcome WHERE name=?"); err != nil {
		return err
	}
	s.contents, err = newContents(s.db.PrepareContext, s.changed)
	return err
}

func (s *Store) enter(r row) error {
	if len(r.record) <= flagsAt {
		return fmt.Errorf("case %s has no record", name.Print(string(r.name)))
	}
	version, flags, head := headOf(r.record)
	e := entry{
		name: string(r.name), digest: outcome.Digest(r.digest), source: head.Source, origin: head.Origin,
		flaky: flags&flagFlaky != 0, wall: head.Cost.Wall, sum: s.sum(r),
	}
	if version == recordVersionV1 && e.flaky {
		rec, err := r.decode()
		if err != nil {
			return err
		}
		e.digest = rec.Outcome.Digest()
	}
	s.index = append(s.index, e)
	return checkOrigin(e.name, head.Origin, len(s.meta.Accepts))
}

// sum returns a sum of a row for as long as the store is open.
func (s *Store) sum(r row) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.Write(r.digest)
	h.Write(r.record)
	return h.Sum64()
}

// Close gives up the file. Readers of contents end with an error.
func (s *Store) Close() error {
	if s.contents != nil {
		s.contents.close()
	}
	return s.db.Close()
}

// Format returns the version of the file's format.
func (s *Store) Format() int { return int(s.format) }

// Meta returns where the store comes from.
func (s *Store) Meta() Meta { return s.meta }

// Digest returns the digest over the meta and all rows: the identity of this
// file's state. Any change of the file changes it, a record of the same
// outcomes at another time as well; to compare goldens by what they say of the
// tool, compare the outcomes.
func (s *Store) Digest() outcome.Digest { return s.digest }

// Len returns how many cases there are.
func (s *Store) Len() int { return len(s.index) }

// Names returns the names of all cases, sorted by their bytes.
func (s *Store) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range s.index {
			if !yield(e.name) {
				return
			}
		}
	}
}

func (s *Store) find(caseName string) (entry, bool) {
	i, ok := slices.BinarySearchFunc(s.index, caseName, func(e entry, n string) int { return strings.Compare(e.name, n) })
	if !ok {
		return entry{}, false
	}
	return s.index[i], true
}

// OutcomeDigest returns the Digest of the outcome of that case, from memory.
func (s *Store) OutcomeDigest(caseName string) (outcome.Digest, bool) {
	e, ok := s.find(caseName)
	return e.digest, ok
}

// Flaky reports whether that case has a flaky part or ending, from memory.
func (s *Store) Flaky(caseName string) bool {
	e, _ := s.find(caseName)
	return e.flaky
}

// Wall returns how long that case took when it was recorded, from memory; 0 for
// one that is not there.
func (s *Store) Wall(caseName string) time.Duration {
	e, _ := s.find(caseName)
	return e.wall
}

// Source returns the digest of that case's source when its outcome was made, from memory;
// zero when it is not known.
func (s *Store) Source(caseName string) outcome.Digest {
	e, _ := s.find(caseName)
	return e.source
}

// Origin returns what brought the outcome of that case into the store, from memory:
// Record.Origin.
func (s *Store) Origin(caseName string) int {
	e, _ := s.find(caseName)
	return e.origin
}

// Get returns the record of a case.
func (s *Store) Get(caseName string) (Record, bool, error) {
	e, ok := s.find(caseName)
	if !ok {
		return Record{}, false, nil
	}
	r := row{name: []byte(caseName)}
	err := s.record.QueryRow(r.name).Scan(&r.digest, &r.record)
	if errors.Is(err, sql.ErrNoRows) || err == nil && s.sum(r) != e.sum {
		err = fmt.Errorf("case %s is not what it was", name.Print(caseName))
	}
	var rec Record
	if err == nil {
		rec, err = r.decode()
	}
	if err != nil {
		return Record{}, false, s.changed(err)
	}
	return rec, true, nil
}

// Content returns a reader of p's content, which must be a part that Get
// returned. Content that is damaged ends in an error of class Input before its
// last byte; errNoContent says that there never was any. Close takes nothing
// that could fail.
func (s *Store) Content(p outcome.Part) (io.ReadCloser, error) {
	r, err := s.contents.open(p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Bytes returns p's content whole: p.Size bytes, which the caller finds fit to
// hold in memory.
func (s *Store) Bytes(p outcome.Part) ([]byte, error) {
	r, err := s.contents.open(p)
	if err != nil {
		return nil, err
	}
	return r.all()
}

// changed says what it means that something is not as it was at Open: somebody
// changed the file since, or it is damaged.
func (s *Store) changed(err error) error {
	var digest []byte // over all rows, in any format
	e := s.db.QueryRow("SELECT digest FROM golden WHERE id=1").Scan(&digest)
	if hot(err) || hot(e) || e == nil && !bytes.Equal(digest, s.digest[:]) {
		return fault.Inputf("golden %s was changed since it was opened: run this again", s.path)
	}
	return classify(s.path, err)
}
