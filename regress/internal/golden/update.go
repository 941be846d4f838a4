package golden

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"golang.org/x/sys/unix"

	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// updatePragmas syncs every step before the next, because the golden is changed in place. EXTRA is
// FULL plus a sync of the folder after the journal is removed. Without it a power cut can bring
// back the journal, and undo an accept that was reported as done.
var updatePragmas = []string{"journal_mode(DELETE)", "synchronous(EXTRA)"}

// Tx is a change of a golden in progress. Only one goroutine may use it, and it ends with the
// function that Update called.
type Tx struct {
	ctx     context.Context
	conn    *sql.Conn
	sink    *sink
	packer  *packer
	path    string
	meta    Meta
	encoded []byte // meta, as in the file
	digest  outcome.Digest
	names   []string // of the cases before the change
	lastID  int64
	read    *contents // made by the first Content

	// err is the first error of the file. SQLite may have rolled back the transaction with it. So
	// nothing may be written after it, even if do ignores it.
	err error
}

// Update changes the golden at path in one transaction. After the death of the process, or an error
// that is not ErrUnflushed, nothing has changed. It returns an error of do as it is. Only one process
// may update at a time; others get an error of class Input. A golden that may not be written and a
// full disk are errors of class Environment.
//
// It removes contents that no outcome refers to; the file keeps their space for later ones. It also
// removes accepts without outcomes in the golden, and the other accepts move up.
func Update(path string, do func(*Tx) error) error {
	path = resolve(path)
	l, err := acquireUpdate(path)
	if err != nil {
		return err
	}
	defer l.release()
	info, err := checkFiles(path)
	if err != nil {
		return err
	}
	db, err := openDatabase(path, readWrite, updatePragmas...)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return classify(path, err)
	}
	defer conn.Close()
	return update(ctx, path, info, conn, do)
}

func acquireUpdate(path string) (*lock, error) {
	// Check the file before taking the lock. Otherwise a lock file would come beside a device, and
	// remain beside a missing golden.
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return nil, unwritableError(path, err)
	}
	return acquire(path)
}

func update(ctx context.Context, path string, info fs.FileInfo, conn *sql.Conn, do func(*Tx) error) error {
	var own error // of do, returned as it is
	err := inTransaction(ctx, conn, func() error {
		tx, err := newTx(ctx, path, info, conn)
		if err != nil {
			return err
		}
		defer tx.close()
		if own = do(tx); own != nil {
			return own
		}
		if tx.err != nil {
			return tx.err
		}
		_, err = seal(ctx, conn)
		return err
	})
	if own != nil {
		return own
	}
	return classify(path, err)
}

// newTx checks the golden first. Changing a damaged one would seal the damage.
func newTx(ctx context.Context, path string, info fs.FileInfo, conn *sql.Conn) (*Tx, error) {
	tx := &Tx{ctx: ctx, conn: conn, path: path}
	d, digest, err := checkRows(ctx, conn, path, info, func(r row) error {
		tx.names = append(tx.names, string(r.name))
		return nil
	})
	if err != nil {
		return nil, err
	}
	tx.digest = digest
	if tx.meta, err = d.decode(); err != nil {
		return nil, err
	}
	tx.encoded = d.meta
	if tx.lastID, err = lastBlob(ctx, conn); err != nil {
		return nil, err
	}
	if tx.packer, err = newPacker(); err != nil {
		return nil, err
	}
	tx.sink, err = newSink(ctx, conn)
	return tx, err
}

func (tx *Tx) close() {
	if tx.read != nil {
		tx.read.close()
	}
	tx.sink.close()
	tx.packer.zip.Close()
}

// classify records an error of the file and gives it its class.
func (tx *Tx) classify(err error) error {
	err = classify(tx.path, err)
	if tx.err == nil {
		tx.err = err
	}
	return err
}

// write executes a statement, unless an earlier one failed.
func (tx *Tx) write(query string, args ...any) error {
	if tx.err != nil {
		return tx.err
	}
	_, err := tx.conn.ExecContext(tx.ctx, query, args...)
	return tx.classify(err)
}

// Digest returns the Digest of the golden before this change.
func (tx *Tx) Digest() outcome.Digest { return tx.digest }

// Meta returns the golden's meta, as SetMeta left it.
func (tx *Tx) Meta() Meta { return tx.meta }

// SetMeta replaces the golden's meta. Fields of a later muster remain.
func (tx *Tx) SetMeta(m Meta) error {
	b, err := encodeMeta(m, tx.encoded)
	if err != nil {
		return err
	}
	if tx.meta, err = decodeMeta(b); err != nil {
		return err
	}
	tx.encoded = b
	if tx.err != nil {
		return tx.err
	}
	return tx.classify(writeMeta(tx.ctx, tx.conn, b))
}

// Names returns the names of all cases in the golden before this change, sorted.
func (tx *Tx) Names() iter.Seq[string] { return slices.Values(tx.names) }

// Get returns the record of a case, as this change left it.
func (tx *Tx) Get(caseName string) (Record, bool, error) {
	r, found, err := get(tx.ctx, tx.conn, caseName)
	return r, found, tx.classify(err)
}

// Content opens the content of a part of the golden before this change. The reader is valid until
// the change ends.
func (tx *Tx) Content(p outcome.Part) (r io.ReadCloser, err error) {
	if tx.read == nil {
		if tx.read, err = newContents(tx.conn.PrepareContext, tx.classify); err != nil {
			return nil, err
		}
	}
	return tx.read.open(p)
}

// Delete removes a case, if it is there.
func (tx *Tx) Delete(caseName string) error {
	return tx.write("DELETE FROM outcome WHERE name=?", []byte(caseName))
}

// Put stores r and the contents of its parts and their variants. It replaces an earlier record of
// that name. content may read from another store.
func (tx *Tx) Put(r Record, content Content) error {
	r, err := canonical(r)
	if err == nil {
		err = tx.err
	}
	if err != nil {
		return err
	}
	for p := range WithContent(&r.Outcome) {
		if err := tx.putContent(p, content); err != nil {
			return fmt.Errorf("%s of case %s: %w", name.Print(p.String()), name.Print(r.Name), err)
		}
	}
	return tx.classify(tx.sink.putRow(tx.ctx, rowOf(r)))
}

func (tx *Tx) putContent(p outcome.Part, content Content) error {
	known, err := tx.has(p)
	if err != nil || known {
		return err
	}
	r, err := content(p)
	if err != nil {
		return err
	}
	defer r.Close()
	tx.lastID++
	id := tx.lastID
	err = tx.packer.pack(r, p, id<<pieceShift, func(pc piece) error {
		return tx.classify(tx.sink.putPiece(tx.ctx, pc))
	})
	if err != nil {
		if tx.err == nil { // do may continue after an error of the content, so the pieces must go
			tx.classify(dropPieces(tx.ctx, tx.conn, id))
		}
		return err
	}
	return tx.classify(tx.sink.putBlob(tx.ctx, blob{p.Digest, id, p.Size}))
}

func (tx *Tx) has(p outcome.Part) (bool, error) {
	if p.Size == 0 {
		return true, checkEmpty(p)
	}
	var size int64
	err := tx.conn.QueryRowContext(tx.ctx, "SELECT size FROM blob WHERE digest=?", p.Digest[:]).Scan(&size)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, tx.classify(err)
	case size != p.Size:
		return false, fmt.Errorf("%w: %d bytes, not %d", ErrContent, size, p.Size)
	}
	return true, nil
}
