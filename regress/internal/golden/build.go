package golden

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/semaphore"

	"muster/regress"
	"muster/regress/internal/fault"
)

// partSuffix is the suffix of the file of a store under construction.
const partSuffix = ".part"

// buildPragmas turns off syncs while a store is built. If the process dies, the kernel still writes
// what it received. A power cut can cost the .part. That is only an unfinished copy, and Resume
// reads it through before it trusts it. Finish syncs before the rename.
var buildPragmas = []string{
	fmt.Sprintf("page_size(%d)", pageBytes), "journal_mode(DELETE)", "synchronous(OFF)",
	"locking_mode(EXCLUSIVE)", "cache_size(-8192)",
}

// Create begins a new store that Finish puts at path. It discards an unfinished one of that name.
// It returns an error of class Input if another process is writing that store, or if path is not
// Replaceable.
func Create(path string, m Meta) (*Writer, error) {
	w, err := newWriter(path, partSuffix)
	if err != nil {
		return nil, err
	}
	if err := w.create(m, nil); err != nil {
		w.releaseAll()
		return nil, err
	}
	return w, nil
}

// create begins a new store in the writer's file. It keeps the fields of old, the meta of an
// earlier store, that only a later muster knows.
func (w *Writer) create(m Meta, old []byte) error {
	format := Version
	if m.TimesVary {
		format = versionTimes
	}
	meta, err := encodeMeta(m, old)
	if err == nil {
		w.meta, err = decodeMeta(meta)
	}
	if err == nil {
		err = removeDatabase(w.part)
	}
	if err == nil {
		err = w.connect(create, func(ctx context.Context, conn *sql.Conn) error {
			return inTransaction(ctx, conn, func() error { return createSchema(ctx, conn, format, meta) })
		})
	}
	return err
}

// Resume continues the store that a Writer for path left unfinished. It reads and checks everything
// that was committed. The error is os.ErrNotExist if nothing was left.
func Resume(path string) (*Writer, error) {
	w, err := newWriter(path, partSuffix)
	if err != nil {
		return nil, err
	}
	if _, err = os.Stat(w.part); err == nil {
		err = w.connect(readWrite, w.revive)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("golden: nothing to resume: %w", err)
	case errors.Is(err, errNoSchema):
		// It was killed before its first commit.
		err = fmt.Errorf("golden: nothing in %s: %w", w.part, os.ErrNotExist)
	case regress.ClassOf(err) == regress.Input:
		err = fault.Inputf("the unfinished golden cannot be resumed: %w", err)
	}
	if err != nil {
		w.releaseAll()
		return nil, err
	}
	return w, nil
}

// newWriter takes the lock. The writer has no connection yet, and its file ends in suffix.
func newWriter(path, suffix string) (*Writer, error) {
	path = resolve(path)
	if err := CheckReplaceable(path); err != nil {
		return nil, err
	}
	k, err := newPacker()
	if err != nil {
		return nil, err
	}
	l, err := acquire(path)
	if err != nil {
		return nil, err
	}
	return &Writer{
		path: path, part: path + suffix, lock: l, packer: k, memory: semaphore.NewWeighted(putMemoryMax),
		known: contentSet{},
	}, nil
}

// connect opens the connection, prepares the file with it and starts the committer.
func (w *Writer) connect(mode string, prepare func(context.Context, *sql.Conn) error) error {
	ctx := context.Background()
	var err error
	if w.db, err = openDatabase(w.part, mode, buildPragmas...); err != nil {
		return err
	}
	conn, err := w.db.Conn(ctx)
	if err == nil {
		err = prepare(ctx, conn)
	}
	if errors.Is(err, errNoSchema) {
		return err
	}
	if err != nil {
		return classify(w.part, err)
	}
	if w.committer, err = newCommitter(ctx, w.part, conn); err != nil {
		return err
	}
	go w.committer.run()
	return nil
}

// revive checks an unfinished store and takes over its state.
func (w *Writer) revive(ctx context.Context, conn *sql.Conn) error {
	// Before the first commit the file has neither format nor tables.
	format, err := formatOf(ctx, conn, w.part)
	if format == 0 {
		err = checkSchema(ctx, conn)
	}
	if err == nil && format < Version {
		err = fault.Inputf("an older muster began %s: start again without --resume", w.part)
	}
	if err != nil {
		return err
	}
	d, err := checkTables(ctx, conn, w.part)
	if err != nil {
		return err
	}
	if w.meta, err = decodeMeta(d.meta); err != nil {
		return err
	}
	return inTransaction(ctx, conn, func() error { return w.takeOver(ctx, conn) })
}

func (w *Writer) takeOver(ctx context.Context, conn *sql.Conn) error {
	// A store killed between seal and rename has a digest. It is unfinished again.
	if _, err := conn.ExecContext(ctx, "UPDATE golden SET digest=x'' WHERE id=1"); err != nil {
		return err
	}
	stored, err := blobs(ctx, conn)
	if err != nil {
		return err
	}
	for _, b := range stored {
		w.known.add(b.digest, b.size)
	}
	if err := dropOrphans(ctx, conn, stored); err != nil {
		return err
	}
	if w.lastID, err = lastBlob(ctx, conn); err != nil {
		return err
	}
	if err := verify(ctx, conn, stored); err != nil {
		return err
	}
	d, err := readDescription(ctx, conn, Version)
	if err == nil {
		_, err = readShared(ctx, conn, d.shared)
	}
	return err
}

// Finish completes the store and puts it at path, atomically: at every moment the old file or the
// new one is there. No Put may run beside it, and it closes the writer. After an error that is not
// ErrUnflushed the unfinished store remains for Resume, and path is unchanged.
func (w *Writer) Finish() error {
	if w.closed {
		return errClosed
	}
	w.known = nil // its memory is for what seal needs
	err := w.call(func(ctx context.Context) error {
		if err := w.committer.begin(ctx); err != nil {
			return err
		}
		if _, err := seal(ctx, w.committer.conn); err != nil {
			return err
		}
		return w.committer.commit(ctx)
	})
	w.sealed = err == nil
	if err = cmp.Or(err, w.closeDatabase()); err == nil {
		err = w.publish()
	}
	w.releaseAll()
	return err
}

// publish syncs the part and renames it, unless somebody put another file there since.
func (w *Writer) publish() error {
	if err := checkReplaceable(w.path); err != nil {
		return err
	}
	if err := syncPath(w.part); err != nil {
		return err
	}
	if err := settleJournal(w.path); err != nil {
		return err
	}
	return putInPlace(w.part, w.path)
}

// putInPlace renames a flushed file to path, and makes the name durable.
func putInPlace(from, path string) error {
	if err := os.Rename(from, path); err != nil {
		return fault.Environmentf("golden: %w", err)
	}
	if err := syncPath(filepath.Dir(path)); err != nil {
		return unflushedError(path, err)
	}
	return nil
}

// Unfinish undoes the last step of a Finish, so that Resume can continue. The store at path is
// unfinished again, and nothing is at path.
func Unfinish(path string) error {
	l, err := acquire(path)
	if err != nil {
		return err
	}
	defer l.release()
	if err := removeDatabase(path + partSuffix); err != nil {
		return err
	}
	if err := os.Rename(path, path+partSuffix); err != nil {
		return fault.Environmentf("golden: %w", err)
	}
	return nil
}

// settleJournal removes the journal that a killed change of the old golden left. Otherwise SQLite
// would roll it back into the new golden. It first rolls back the old golden, because the process
// may be killed before the rename. If that fails, the golden has no use for its journal.
func settleJournal(path string) error {
	if _, err := os.Stat(journal(path)); err != nil {
		return nil
	}
	_ = rollBack(context.Background(), path)
	if err := os.Remove(journal(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Environmentf("golden: %w", err)
	}
	return nil
}

// Abort closes the writer. With keep, everything that was Put remains for Resume, if the disk has
// room. Without keep, nothing remains. The file at path is unchanged. After Finish or Abort it does
// nothing.
func (w *Writer) Abort(keep bool) error {
	if w.closed {
		return nil
	}
	err := w.call(func(ctx context.Context) error {
		if keep {
			return w.committer.commit(ctx)
		}
		return nil
	})
	err = cmp.Or(err, w.closeDatabase())
	if !keep {
		err = removeDatabase(w.part)
	}
	w.releaseAll()
	return err
}

// Kept returns the names of the cases that an incomplete part keeps for Resume. Call it after Finish or
// Abort.
func (w *Writer) Kept() (cases map[string]bool, incomplete bool) { return w.kept, !w.sealed }

// closeDatabase ends the committer and rolls back uncommitted changes.
func (w *Writer) closeDatabase() error {
	if w.db == nil {
		return nil
	}
	var err error
	if w.committer != nil {
		w.committer.stop()
		if !w.sealed {
			w.kept = w.committer.listCommitted()
		}
		err = w.committer.conn.Close()
	}
	err = cmp.Or(err, w.db.Close())
	w.db = nil
	return classify(w.part, err)
}

// releaseAll releases everything that the writer holds, except its files. Afterwards another
// process may take its lock.
func (w *Writer) releaseAll() {
	if w.closed {
		return
	}
	w.closed = true
	w.closeDatabase()
	w.packer.zip.Close()
	w.lock.release()
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fault.Environmentf("golden: %w", err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fault.Environmentf("golden %s: %w", path, err)
	}
	return nil
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
