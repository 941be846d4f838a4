package golden

import (
	"context"
	"database/sql"
	"io"
	"iter"
	"slices"

	"golang.org/x/sys/unix"

	"muster/regress/internal/outcome"
)

// updatePragmas syncs every step before the next, because the golden is changed in place. EXTRA is
// FULL plus a sync of the folder after the journal is removed. Without it a power cut can bring
// back the journal, and undo an accept that was reported as done.
var updatePragmas = []string{"journal_mode(DELETE)", "synchronous(EXTRA)"}

// Tx is a change of a golden in progress. Only one goroutine may use it, and it ends with the
// function that Update called.
type Tx struct {
	*editor
	meta   Meta
	digest outcome.Digest
	names  []string // of the cases before the change
}

// Update changes the golden at path in one transaction. After the death of the process, or an error
// that is not ErrUnflushed, nothing has changed. It returns an error of do as it is. Only one process may update at a time;
// others get an error of class Input. A golden that may not be written and a full disk are errors of
// class Environment.
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
	info, err := checkHeader(path)
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
	var own error // of do, returned as it is
	err = inTransaction(ctx, conn, func() error {
		tx := &Tx{}
		// A change of a damaged golden would seal the damage.
		d, err := checkTables(ctx, conn, path)
		if err == nil {
			err = checkSize(ctx, conn, path, info)
		}
		if err != nil {
			return err
		}
		tx.digest, err = scan(ctx, conn, d, func(r row) error {
			tx.names = append(tx.names, string(r.name))
			return nil
		})
		if err == nil {
			err = d.checkDigest(tx.digest)
		}
		if err == nil {
			tx.meta, err = d.decode()
		}
		if err != nil {
			return err
		}
		tx.editor, err = newEditor(path, conn)
		defer tx.close()
		if err != nil {
			return err
		}
		tx.open = true
		if own = do(tx); own != nil {
			return own
		}
		return tx.do(tx.seal)
	})
	if own != nil {
		return own
	}
	return classify(path, err)
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

// inTransaction runs do in a transaction. After an error it rolls everything back.
func inTransaction(ctx context.Context, conn *sql.Conn, do func() error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// A failure needs no report: closing the connection rolls back too. After a full disk or an error of
		// it, SQLite leaves the journal to whoever reads next: without this reader the file would stay half changed.
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
		_, _ = conn.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema")
	}
	return err
}

// Digest returns the Digest of the golden before this change.
func (tx *Tx) Digest() outcome.Digest { return tx.digest }

// Meta returns the golden's meta, as SetMeta left it.
func (tx *Tx) Meta() Meta { return tx.meta }

// SetMeta replaces the golden's meta.
func (tx *Tx) SetMeta(m Meta) error {
	b, err := encodeMeta(m)
	if err != nil {
		return err
	}
	if tx.meta, err = decodeMeta(b); err != nil {
		return err
	}
	return tx.do(func() error { return writeMeta(context.Background(), tx.conn, b) })
}

// Names returns the names of all cases in the golden before this change, sorted.
func (tx *Tx) Names() iter.Seq[string] { return slices.Values(tx.names) }

// Content opens the content of a part of the golden before this change. The reader is valid until
// the change ends.
func (tx *Tx) Content(p outcome.Part) (io.ReadCloser, error) {
	c, err := tx.contents()
	if err != nil {
		return nil, err
	}
	return c.open(p)
}

// Delete removes a case, if it is there.
func (tx *Tx) Delete(caseName string) error {
	return tx.do(func() error { return tx.exec("DELETE FROM outcome WHERE name=?", []byte(caseName)) })
}

// Put stores r and the contents of its parts and their variants. It replaces an earlier record of
// that name. content may read from another store.
func (tx *Tx) Put(r Record, content Content) error {
	r, err := canonical(r)
	if err != nil {
		return err
	}
	return tx.put(context.Background(), r, content)
}
