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
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sort"
	"strings"
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
	path        string
	description description
	meta        Meta
	index       index
	db          *sql.DB
	record      *sql.Stmt
	contents    *contents
}

// connectionsMax bounds the reads that run at once. Each connection has a cache and, during a read,
// a thread.
const connectionsMax = 4

// Open opens the store at path and checks all rows against their digest, in about 2 µs a case. It
// returns an error of class Input for a file that is not a golden, has a newer format or is
// damaged. It first undoes a change that was killed. Without
// write permission for that, the error is of class Environment.
func Open(path string) (*Store, error) {
	path = resolve(path)
	info, err := checkHeader(path)
	if err != nil {
		return nil, err
	}
	s, err := open(path, info)
	return s, classify(path, err)
}

// open does not classify errors.
func open(path string, info fs.FileInfo) (*Store, error) {
	db, err := openDatabase(path, readWrite)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connectionsMax)
	db.SetMaxIdleConns(connectionsMax)
	s := &Store{path: path, db: db}
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
	s.description = d
	if s.meta, err = d.decode(); err != nil {
		return err
	}
	rows, nameBytes := 0, int64(0)
	if err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(length(name)), 0) FROM outcome").Scan(&rows, &nameBytes); err != nil {
		return err
	}
	s.index.grow(rows, min(nameBytes, info.Size())) // a damaged row may claim any length
	digest, err := scan(ctx, tx, d, s.indexRow)
	if err != nil {
		return err
	}
	if err := d.checkDigest(digest); err != nil {
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
	flags, head := headOf(r.record)
	e := entry{
		digest: outcome.Digest(r.digest), origin: int32(head.Origin),
		flaky: flags&flagFlaky != 0, wall: head.Cost.Wall,
	}
	s.index.add(r.name, head.Source, e)
	return checkOrigin(s.index.name(s.Len()-1), head.Origin, len(s.meta.Accepts))
}

// Close closes the file. Open readers of contents then fail.
func (s *Store) Close() error {
	if s.contents != nil {
		s.contents.close()
	}
	return s.db.Close()
}

// Format returns the version of the file's format.
func (s *Store) Format() int { return int(s.description.format) }

// Meta returns how the store was made.
func (s *Store) Meta() Meta { return s.meta }

// Digest returns the digest over the meta and all rows, which identifies the state of this file.
// Any change of the file changes it, even another record with the same outcomes. Use the outcomes
// to compare goldens.
func (s *Store) Digest() outcome.Digest { return outcome.Digest(s.description.digest) }

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
	var rec Record
	if err == nil {
		rec, err = r.decode()
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && (rec.Outcome.Digest() != e.digest || rec.Origin != int(e.origin)) {
		err = fmt.Errorf("case %s has changed", name.Print(caseName))
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

// classifyRead classifies an error of a read after Open: either somebody changed the file since, or
// it is damaged.
func (s *Store) classifyRead(err error) error {
	var digest []byte // over all rows, in any format
	e := s.db.QueryRow("SELECT digest FROM golden WHERE id=1").Scan(&digest)
	if e == nil && !bytes.Equal(digest, s.description.digest) {
		return fault.Inputf("golden %s was changed since it was opened: run this again", s.path)
	}
	return classify(s.path, err)
}

// An index is what memory holds of each case: all that a check needs to recognise an identical
// outcome. It has few pointers, so the garbage collector need not look at a million cases.
type index struct {
	entries []entry          // by name
	names   strings.Builder  // of all entries, one after another
	sources []outcome.Digest // of all entries; nil once they are dropped
}

type entry struct {
	digest outcome.Digest
	wall   time.Duration
	end    int // of the name in index.names
	origin int32
	flaky  bool
}

// grow makes room for a number of cases. Growing with each case would take several times the memory.
func (x *index) grow(cases int, nameBytes int64) {
	x.entries, x.sources = make([]entry, 0, cases), make([]outcome.Digest, 0, cases)
	x.names.Grow(int(nameBytes))
}

// add appends the next case.
func (x *index) add(caseName []byte, source outcome.Digest, e entry) {
	x.names.Write(caseName)
	e.end = x.names.Len()
	x.entries, x.sources = append(x.entries, e), append(x.sources, source)
}

// name returns the name of the i-th case.
func (x *index) name(i int) string {
	start := 0
	if i > 0 {
		start = x.entries[i-1].end
	}
	return x.names.String()[start:x.entries[i].end]
}

// find returns the number and the entry of a case, or a zero entry.
func (x *index) find(caseName string) (i int, e entry, ok bool) {
	i, ok = sort.Find(len(x.entries), func(i int) int { return strings.Compare(caseName, x.name(i)) })
	if ok {
		e = x.entries[i]
	}
	return i, e, ok
}
