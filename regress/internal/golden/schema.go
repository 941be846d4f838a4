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
	"io/fs"
	"os"
	"slices"

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
	err := eachRecord(ctx, q, "SELECT name, digest, record FROM outcome ORDER BY name", func(r row) error {
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

// decode returns the record of a row. An error names the case.
func (r row) decode() (Record, error) {
	rec, err := r.toRecord()
	if err != nil {
		return Record{}, fmt.Errorf("case %s: %w", name.Print(string(r.name)), err)
	}
	return rec, nil
}

func (r row) toRecord() (Record, error) {
	if len(r.digest) != len(outcome.Digest{}) {
		return Record{}, errors.New("a row without a digest")
	}
	return decodeRecord(string(r.name), r.record, outcome.Digest(r.digest))
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
	}
	rec, err := r.decode()
	return rec, err == nil, err
}
