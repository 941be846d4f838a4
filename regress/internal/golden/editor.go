package golden

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// A Writer commits at these limits. They bound what a kill can lose, and the size of a transaction.
const (
	commitEvery = 250 * time.Millisecond
	commitBytes = 64 << 20
)

var errClosed = errors.New("golden: the writer is closed")

// Content opens the content of a part of the record that is being put. A variant is passed as a
// part. It is called in the goroutine of Put, and not for content that the store already has.
type Content func(outcome.Part) (io.ReadCloser, error)

// editor changes the rows of a file through one connection. It is safe for concurrent use: hashing
// and compression run in the goroutines of the callers, and one of them at a time uses the
// connection. After its first error it changes nothing, because SQLite may have rolled back.
type editor struct {
	file   string // its path
	packer *packer

	mu     sync.Mutex // guards the connection and the fields below
	conn   *sql.Conn
	read   *contents // made by the first read of a content
	lastID int64     // of a blob
	err    error     // the first error, classified

	has, piece, blob, outcome *sql.Stmt

	open  bool        // a transaction is open
	bytes int         // written in it
	timer *time.Timer // commits it; nil if the caller commits
}

// newEditor prepares the statements. Close the editor also after an error.
func newEditor(file string, conn *sql.Conn) (*editor, error) {
	e := &editor{file: file, conn: conn}
	var err error
	if e.packer, err = newPacker(); err != nil {
		return e, err
	}
	if e.lastID, err = lastBlob(conn); err != nil {
		return e, err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&e.has, "SELECT count(*) FROM blob WHERE digest=? AND size=?"},
		{&e.piece, "INSERT INTO piece(id, codec, data) VALUES(?, ?, ?)"},
		{&e.blob, "INSERT OR IGNORE INTO blob(digest, id, size) VALUES(?, ?, ?)"},
		{&e.outcome, "INSERT OR REPLACE INTO outcome(name, digest, record) VALUES(?, ?, ?)"},
	} {
		if *p.stmt, err = conn.PrepareContext(context.Background(), p.text); err != nil {
			return e, err
		}
	}
	return e, nil
}

// close closes the statements. Open ones would keep SQLite's connection and its locks alive after
// the close.
func (e *editor) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = errClosed
	if e.timer != nil {
		e.timer.Stop()
	}
	for _, stmt := range []*sql.Stmt{e.has, e.piece, e.blob, e.outcome} {
		if stmt != nil {
			stmt.Close()
		}
	}
	if e.read != nil {
		e.read.close()
	}
	if e.packer != nil {
		e.packer.zip.Close()
	}
}

// do calls f alone on the connection, in a transaction. No statement is ever cancelled: that would
// lose the transaction.
func (e *editor) do(f func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	err := e.begin()
	if err == nil {
		err = f()
	}
	if err == nil && e.timer != nil && e.bytes >= commitBytes {
		err = e.commit()
	}
	return e.fail(err)
}

// fail keeps an error of the file, and returns it with its class.
func (e *editor) fail(err error) error {
	e.err = classify(e.file, err)
	return e.err
}

// exec executes a statement within do.
func (e *editor) exec(query string, args ...any) error {
	_, err := e.conn.ExecContext(context.Background(), query, args...)
	return err
}

func (e *editor) begin() error {
	if e.open {
		return nil
	}
	if err := e.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	e.open, e.bytes = true, 0
	if e.timer == nil {
		e.timer = time.AfterFunc(commitEvery, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.err == nil {
				e.fail(e.commit())
			}
		})
	} else {
		e.timer.Reset(commitEvery)
	}
	return nil
}

func (e *editor) commit() error {
	if !e.open {
		return nil
	}
	e.open = false
	return e.exec("COMMIT")
}

// put stores r and the contents of its parts and their variants. Pieces go before blobs, and blobs before the
// outcome. So a commit between two of them never leaves a dangling reference.
func (e *editor) put(ctx context.Context, r Record, content Content) error {
	for p := range WithContent(&r.Outcome) {
		if err := e.putContent(ctx, p, content); err != nil {
			return fmt.Errorf("%s of case %s: %w", name.Print(p.String()), name.Print(r.Name), err)
		}
	}
	row := rowOf(r)
	return e.do(func() error {
		e.bytes += len(row.record)
		_, err := e.outcome.Exec(row.name, row.digest, row.record)
		return err
	})
}

func (e *editor) putContent(ctx context.Context, p outcome.Part, content Content) error {
	if p.Size == 0 {
		return checkEmpty(p)
	}
	var known, id int64
	err := e.do(func() error {
		e.lastID++
		id = e.lastID
		return e.has.QueryRow(p.Digest[:], p.Size).Scan(&known)
	})
	if err != nil || known > 0 {
		return err
	}
	r, err := content(p)
	if err != nil {
		return err
	}
	defer r.Close()
	err = e.packer.pack(r, p, id<<pieceShift, func(pc piece) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return e.do(func() error {
			e.bytes += len(pc.data)
			_, err := e.piece.Exec(pc.id, int64(pc.codec), pc.data)
			return err
		})
	})
	if err != nil {
		// The pieces are not that content. If this fails, every later call does, and reports why.
		_ = e.do(func() error { return e.dropPieces(id) })
		return err
	}
	return e.do(func() error { return e.putBlob(p, id) })
}

// putBlob makes the pieces under id the content of p's digest. If another Put stored the same
// content meanwhile, it removes them.
func (e *editor) putBlob(p outcome.Part, id int64) error {
	result, err := e.blob.Exec(p.Digest[:], id, p.Size)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return e.dropPieces(id)
}

// dropPieces removes the pieces of the blob with the given id.
func (e *editor) dropPieces(id int64) error {
	return e.exec("DELETE FROM piece WHERE id>=? AND id<?", id<<pieceShift, (id+1)<<pieceShift)
}

// checkEmpty checks the digest of a part of size 0.
func checkEmpty(p outcome.Part) error {
	if p.Digest != outcome.Of(nil) {
		return fmt.Errorf("%w: it is empty, and its digest differs", ErrContent)
	}
	return nil
}

// Get returns the record of a case, as it was put last.
func (e *editor) Get(caseName string) (r Record, found bool, err error) {
	err = e.do(func() error {
		r, found, err = get(context.Background(), e.conn, caseName)
		return err
	})
	return r, found, err
}

// contents returns the reader of contents. It is called within do.
func (e *editor) contents() (*contents, error) {
	var err error
	if e.read == nil {
		e.read, err = newContents(e.conn.PrepareContext, func(err error) error { return classify(e.file, err) })
	}
	return e.read, err
}

// lastBlob returns the highest id that any piece has used.
func lastBlob(q querier) (int64, error) {
	var id sql.NullInt64
	err := q.QueryRowContext(context.Background(), "SELECT max(id) FROM piece").Scan(&id)
	return id.Int64 >> pieceShift, err
}

// contentSet is a set of contents. It keeps half of each digest, because a store may have millions
// of contents: 36 bytes for each instead of 105. Two contents with the same half take 2^64
// attempts to make. A store then lacks one of them, and reading it is an error.
type contentSet map[[16]byte]struct{}

// key includes the size, so that a part with a wrong size is not in the set.
func (contentSet) key(d outcome.Digest, size int64) (k [16]byte) {
	copy(k[:], d[:])
	binary.LittleEndian.PutUint64(k[:], binary.LittleEndian.Uint64(k[:])^uint64(size))
	return k
}

// seal removes the contents and the accepts that no outcome refers to. It then writes the
// digest over all rows; only a store with that digest opens. Errors are not classified.
func (e *editor) seal() error {
	ctx := context.Background()
	format, err := formatOf(ctx, e.conn, "")
	if err != nil {
		return err
	}
	d, err := readDescription(ctx, e.conn, format)
	if err != nil {
		return err
	}
	m, err := decodeMeta(d.meta)
	if err != nil {
		return err
	}
	wanted, used := contentSet{}, make([]bool, len(m.Accepts)+1) // used: by Record.Origin
	sum, err := scan(ctx, e.conn, d, func(r row) error {
		rec, err := r.decode()
		if err != nil {
			return err
		}
		for p := range WithContent(&rec.Outcome) {
			if p.Size > 0 {
				wanted[wanted.key(p.Digest, p.Size)] = struct{}{}
			}
		}
		if err = checkOrigin(rec.Name, rec.Origin, len(m.Accepts)); err == nil {
			used[rec.Origin] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := e.sweep(wanted); err != nil {
		return err
	}
	dropped, err := e.dropAccepts(&d, m, used)
	if err == nil && dropped {
		sum, err = scan(ctx, e.conn, d, func(row) error { return nil })
	}
	if err != nil || bytes.Equal(d.digest, sum[:]) {
		return err
	}
	return e.exec("UPDATE golden SET digest=? WHERE id=1", sum[:])
}

// checkOrigin refuses a record whose accept the meta does not list.
func checkOrigin(caseName string, origin, accepts int) error {
	if origin < 0 || origin > accepts {
		return fmt.Errorf("case %s belongs to accept %d of %d", name.Print(caseName), origin, accepts)
	}
	return nil
}

// sweep removes all blobs except the wanted ones. It fails if a wanted blob is missing.
func (e *editor) sweep(wanted contentSet) error {
	unwanted := map[int64][]byte{} // digests by id
	there := 0
	err := eachRow(context.Background(), e.conn, "SELECT digest, id, size FROM blob", nil, func(rows *sql.Rows) error {
		var digest []byte
		var id, size int64
		if err := rows.Scan(&digest, &id, &size); err != nil {
			return err
		}
		if len(digest) != len(outcome.Digest{}) {
			return errors.New("a content without a digest")
		}
		if _, ok := wanted[wanted.key(outcome.Digest(digest), size)]; ok {
			there++
		} else {
			unwanted[id] = digest
		}
		return nil
	})
	for id, digest := range unwanted {
		if err == nil {
			err = e.exec("DELETE FROM blob WHERE digest=?", digest)
		}
		if err == nil {
			err = e.dropPieces(id)
		}
	}
	if err == nil && there != len(wanted) {
		err = fmt.Errorf("the contents of %d parts are missing", len(wanted)-there)
	}
	return err
}

// dropAccepts removes the unused accepts, and updates the indexes in the records.
func (e *editor) dropAccepts(d *description, m Meta, used []bool) (dropped bool, err error) {
	moved := make([]int, len(used)) // the new origin by the old one
	var kept []Accept
	for i, a := range m.Accepts {
		if used[i+1] {
			kept = append(kept, a)
			moved[i+1] = len(kept)
		}
	}
	if len(kept) == len(m.Accepts) {
		return false, nil
	}
	m.Accepts = kept
	if d.meta, err = encodeMeta(m); err != nil {
		return false, err
	}
	if err := writeMeta(context.Background(), e.conn, d.meta); err != nil {
		return false, err
	}
	return true, e.rewrite(func(r *Record) bool {
		was := r.Origin
		r.Origin = moved[was]
		return r.Origin != was
	})
}

// rewrite encodes the records again for which change returns true. It holds them in memory until
// all rows are read.
func (e *editor) rewrite(change func(*Record) bool) error {
	var changed []row
	_, err := scan(context.Background(), e.conn, description{}, func(r row) error {
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
		if err := e.exec("UPDATE outcome SET digest=?, record=? WHERE name=?", r.digest, r.record, r.name); err != nil {
			return err
		}
	}
	return nil
}
