package golden

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// partSuffix is what the file of a store that is being built ends in.
const partSuffix = ".part"

// buildPragmas: nothing is synced while a store is built. That is enough for
// the death of the process, because what the kernel was given it will write;
// a power cut can cost the .part, which is only an unfinished copy, and which
// Resume reads through before it trusts it. Finish syncs before the rename.
var buildPragmas = []string{
	fmt.Sprintf("page_size(%d)", pageBytes), "journal_mode(DELETE)", "synchronous(OFF)",
	"locking_mode(EXCLUSIVE)", "cache_size(-8192)",
}

// Create begins a new store that Finish puts at path. An unfinished one of
// that name is given up; one that another process is writing is an error of
// class Input, and so is what is not Replaceable.
func Create(path string, m Meta) (*Writer, error) {
	w, err := newWriter(path, partSuffix)
	if err != nil {
		return nil, err
	}
	if err := w.create(m, nil); err != nil {
		w.shut()
		return nil, err
	}
	return w, nil
}

// create begins a new store in the writer's file. What a later muster noted in the meta
// old, if any, goes over into it.
func (w *Writer) create(m Meta, old []byte) error {
	meta, err := encodeMeta(m, old)
	if err == nil {
		w.meta, err = decodeMeta(meta)
	}
	if err == nil {
		err = removeDatabase(w.part)
	}
	if err == nil {
		err = w.start(create, func(ctx context.Context, conn *sql.Conn) error {
			return inTransaction(ctx, conn, func() error { return createSchema(ctx, conn, meta) })
		})
	}
	return err
}

// Resume goes on with the store that a Writer for path left unfinished: what
// was committed is there, and is read through and checked. The error is
// os.ErrNotExist when there is nothing to go on with.
func Resume(path string) (*Writer, error) {
	w, err := newWriter(path, partSuffix)
	if err != nil {
		return nil, err
	}
	if _, err = os.Stat(w.part); err == nil {
		err = w.start(readWrite, w.revive)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("golden: nothing to resume: %w", err)
	case errors.Is(err, errNoSchema):
		// It was killed before its first commit.
		err = fmt.Errorf("golden: nothing in %s: %w", w.part, os.ErrNotExist)
	case fault.ClassOf(err) == fault.Input:
		err = fault.Inputf("what was to be resumed can't be: %w", err)
	}
	if err != nil {
		w.shut()
		return nil, err
	}
	return w, nil
}

// newWriter takes the lock. Its writer has no connection yet, and a file that ends in
// suffix.
func newWriter(path, suffix string) (*Writer, error) {
	path = resolve(path)
	if err := Replaceable(path); err != nil {
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
		path: path, part: path + suffix, lock: l, packer: k,
		known: make(map[outcome.Digest]int64),
	}, nil
}

// start opens the connection, prepares the file with it and starts the
// committer.
func (w *Writer) start(mode string, prepare func(context.Context, *sql.Conn) error) error {
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

// revive checks everything in an unfinished store and takes over its state.
func (w *Writer) revive(ctx context.Context, conn *sql.Conn) error {
	// Before the first commit the file has neither format nor tables.
	format, err := formatOf(ctx, conn, w.part)
	if format == 0 {
		err = checkSchema(ctx, conn, Version)
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
	// Killed between seal and rename it has a digest; it is unfinished again.
	if _, err := conn.ExecContext(ctx, "UPDATE golden SET digest=x'' WHERE id=1"); err != nil {
		return err
	}
	stored, err := blobs(ctx, conn)
	if err != nil {
		return err
	}
	for _, b := range stored {
		w.known[b.digest] = b.size
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

// Finish makes the store whole and puts it at path, atomically: at every
// moment there is the old file or the new one there. No Put may run beside it,
// and the writer is closed after it. After an error the unfinished store is
// still there for Resume, and path is as it was.
func (w *Writer) Finish() error {
	if w.closed {
		return errClosed
	}
	err := w.call(func(ctx context.Context) error {
		if err := w.committer.begin(ctx); err != nil {
			return err
		}
		if _, err := seal(ctx, w.committer.conn); err != nil {
			return err
		}
		return w.committer.commit(ctx)
	})
	if closeErr := w.closeDatabase(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = w.publish()
	}
	w.shut()
	return err
}

// publish syncs the part and renames it, unless somebody has put something of
// their own at its place since.
func (w *Writer) publish() error {
	if err := replaceable(w.path); err != nil {
		return err
	}
	if err := syncPath(w.part); err != nil {
		return err
	}
	if err := settle(w.path); err != nil {
		return err
	}
	if err := os.Rename(w.part, w.path); err != nil {
		return fault.Environmentf("golden: %w", err)
	}
	return syncPath(filepath.Dir(w.path))
}

// Unfinish undoes the last step of a Finish, for Resume to go on from there: the store at
// path is the unfinished one again, and at path is none.
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

// settle deals with the journal of a change of the old golden that was killed:
// left where it is, SQLite would roll it back into the new one. The old golden
// is made whole by it first, since a kill may come before the rename. A golden
// that can't be made whole has no use for its journal.
func settle(path string) error {
	if _, err := os.Stat(journal(path)); err != nil {
		return nil
	}
	_ = rollBack(context.Background(), path)
	if err := os.Remove(journal(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Environmentf("golden: %w", err)
	}
	return nil
}

// Abort closes the writer. With keep everything that was Put stays for Resume,
// unless there is no room for it; else nothing stays. The file at path is as
// it was. After Finish or Abort it does nothing.
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
	if closeErr := w.closeDatabase(); err == nil {
		err = closeErr
	}
	if !keep {
		err = removeDatabase(w.part)
	}
	w.shut()
	return err
}

// closeDatabase ends the committer and rolls back what is not committed.
func (w *Writer) closeDatabase() error {
	if w.db == nil {
		return nil
	}
	var err error
	if w.committer != nil {
		w.committer.stop()
		err = w.committer.conn.Close()
	}
	if closeErr := w.db.Close(); err == nil {
		err = closeErr
	}
	w.db = nil
	return classify(w.part, err)
}

// shut gives up everything that the writer holds, its files apart. Its lock may be that of
// another process once it has.
func (w *Writer) shut() {
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

// inTransaction does all of do or nothing.
func inTransaction(ctx context.Context, conn *sql.Conn, do func() error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// Nothing to add when it fails: closing the connection does the same.
		_, _ = conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}
