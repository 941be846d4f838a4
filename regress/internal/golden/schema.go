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
	"io"
	"io/fs"
	"os"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Version is the format that this package writes, and the newest one that it reads.
const Version = 3

// versionFirst is the oldest format that this package reads. It is that of the first release.
const versionFirst = 2

// versionTimes is the last format whose outcomes depend on the times of the runs (see Meta.TimesVary). Its tables
// are those of Version. A change of such a store keeps its format.
const versionTimes = 2

// applicationID distinguishes a golden from other SQLite files: "must" in ASCII.
const applicationID = 0x6d757374

// pageBytes is measured: see README.md.
const pageBytes = 8192

// The tables, in the order of their names. A file whose schema differs by a byte is not opened: a
// damaged or hostile schema can change the meaning of our statements.
//
// outcome is separate from the contents, because an open reads all of it. A table of 15,000 small
// rows reads several times faster than one with blobs between. The id of a piece is the blob's id
// and the piece's number in one integer. So the rows of one blob are adjacent, are appended, and
// need no index.
//
// shared is a separate table too, and Open does not read it. It can have a row for each file of the
// corpus.
var schema = [...]string{
	"CREATE TABLE blob(digest BLOB PRIMARY KEY NOT NULL, id INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID",
	"CREATE TABLE golden(id INTEGER PRIMARY KEY, meta BLOB NOT NULL, sum BLOB NOT NULL, shared BLOB NOT NULL, digest BLOB NOT NULL)",
	"CREATE TABLE outcome(name BLOB PRIMARY KEY NOT NULL, digest BLOB NOT NULL, record BLOB NOT NULL) WITHOUT ROWID",
	"CREATE TABLE piece(id INTEGER PRIMARY KEY, codec INTEGER NOT NULL, data BLOB NOT NULL)",
	"CREATE TABLE shared(name BLOB PRIMARY KEY NOT NULL, digest BLOB NOT NULL) WITHOUT ROWID",
}

// pieceShift is the number of bits of a piece's id that number the pieces of one blob.
const pieceShift = 24

// createSchema makes the tables and the one row of golden.
func createSchema(ctx context.Context, q querier, format int, meta []byte) error {
	statements := append([]string{
		fmt.Sprintf("PRAGMA application_id=%d", applicationID),
		fmt.Sprintf("PRAGMA user_version=%d", format),
	}, schema[:]...)
	for _, s := range statements {
		if _, err := q.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return insertDescription(ctx, q, meta)
}

// checkSchema checks that a database has exactly the tables of a golden. For a database without
// tables it returns errNoSchema.
func checkSchema(ctx context.Context, q querier) error {
	var found []string
	err := eachRow(ctx, q, "SELECT sql FROM sqlite_schema ORDER BY name", nil, func(rows *sql.Rows) error {
		var table string
		err := rows.Scan(&table)
		found = append(found, table)
		return err
	})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return errNoSchema
	case !slices.Equal(found, schema[:]):
		return errors.New("its tables are not those of a golden")
	}
	return nil
}

var errNoSchema = errors.New("it has no tables")

// Offsets in the header of a SQLite file (sqlite.org/fileformat2.html).
const (
	headerBytes       = 100
	headerVersions    = 18 // versions for writing and reading: 1 is a rollback journal, 2 is WAL
	headerUserVersion = 60
	headerApplication = 68
)

// checkHeader reads the header of the file at path, and returns its file info. It runs before
// SQLite, for precise messages, and because SQLite would make files beside one that claims WAL
// mode.
//
// Closing a file drops the locks that this process holds on it for SQLite. That is harmless only
// because every writer also holds our own lock.
func checkHeader(path string) (fs.FileInfo, error) {
	f, info, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var h [headerBytes]byte
	_, err = io.ReadFull(f, h[:])
	return info, judgeHeader(path, h[:], err)
}

// checkFiles is checkHeader, and also refuses a file with the journal's name that is not a journal.
// SQLite would remove or overwrite it.
func checkFiles(path string) (fs.FileInfo, error) {
	info, err := checkHeader(path)
	if err != nil {
		return nil, err
	}
	return info, checkJournal(journal(path))
}

// judgeHeader returns the error for the header h, or nil. err is the error of reading it.
func judgeHeader(path string, h []byte, err error) error {
	switch isShort := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); {
	case isShort && (errors.Is(err, io.EOF) || bytes.HasPrefix(h, []byte(magic))):
		return damageError(path, errors.New("it is cut off"))
	case isShort:
		return foreignError(path)
	case err != nil:
		return fault.Environmentf("golden %s: %w", path, err)
	case !isGolden(h):
		return foreignError(path)
	}
	if err := checkVersion(path, int64(binary.BigEndian.Uint32(h[headerUserVersion:]))); err != nil {
		return err
	}
	if h[headerVersions] != 1 || h[headerVersions+1] != 1 {
		return damageError(path, errors.New("it is not in rollback-journal mode"))
	}
	return nil
}

// checkSize detects a golden that is cut off within its last page, which SQLite would read as
// zeros. It needs a read transaction. before is the info of the file before the open: a file that
// was renamed over it since has another size.
func checkSize(ctx context.Context, q querier, path string, before fs.FileInfo) error {
	var pages, size int64
	if err := q.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		return err
	}
	if err := q.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size); err != nil {
		return err
	}
	now, err := os.Stat(path)
	if err != nil || !os.SameFile(before, now) {
		return nil
	}
	if now.Size() < pages*size {
		return errors.New("it is cut off")
	}
	return nil
}

func checkVersion(path string, version int64) error {
	switch {
	case version > Version:
		return fault.Inputf("golden %s has format %d, and this muster reads formats up to %d: use a newer muster, or record again", path, version, Version)
	case version < 1:
		return damageError(path, fmt.Errorf("format %d never existed", version))
	case version < versionFirst:
		return fault.Inputf("golden %s has format %d, which no release of muster wrote: record again", path, version)
	}
	return nil
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
	s.add(d.shared)
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
