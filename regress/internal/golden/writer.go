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
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
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

// Writer builds a new store in a file beside its final name. The file of that name is untouched
// until Finish. After an error of the disk every method returns that error. What was committed
// before remains for Resume.
//
// All methods are safe for concurrent use, but no method may run beside Finish and Abort.
type Writer struct {
	*editor
	path, part string // final path, and path during construction
	meta       Meta
	lock       *lock
	db         *sql.DB
	memory     *semaphore.Weighted // bounds the contents in all calls of Put, in bytes
	closed     bool
	sealed     bool            // the part is complete
	kept       map[string]bool // names of the cases in the part, once the writer is closed without being sealed
}

// Create begins a new store that Finish puts at path. It discards an unfinished one of that name.
// It returns an error of class Input if another process is writing that store, or if path is not
// Replaceable.
func Create(path string, m Meta) (*Writer, error) {
	w, err := newWriter(path, partSuffix)
	if err != nil {
		return nil, err
	}
	if err := w.create(m); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// create begins a new store in the writer's file.
func (w *Writer) create(m Meta) error {
	format := Version
	if m.TimesVary {
		format = versionTimes
	}
	meta, err := encodeMeta(m)
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
		w.close()
		return nil, err
	}
	return w, nil
}

// newWriter takes the lock. The writer has no connection yet, and its file ends in suffix.
func newWriter(path, suffix string) (*Writer, error) {
	path = resolve(path)
	if err := cmp.Or(CheckReplaceable(path), checkReplaceable(path+suffix)); err != nil {
		return nil, err
	}
	l, err := acquire(path)
	if err != nil {
		return nil, err
	}
	return &Writer{path: path, part: path + suffix, lock: l, memory: semaphore.NewWeighted(putMemoryMax)}, nil
}

// connect opens the connection and prepares the file with it.
func (w *Writer) connect(mode string, prepare func(context.Context, *sql.Conn) error) error {
	ctx := context.Background()
	var err error
	if w.db, err = openDatabase(w.part, mode, buildPragmas...); err != nil {
		return err
	}
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return classify(w.part, err)
	}
	if err = prepare(ctx, conn); err == nil {
		w.editor, err = newEditor(w.part, conn)
	} else {
		conn.Close()
	}
	if errors.Is(err, errNoSchema) {
		return err
	}
	return classify(w.part, err)
}

// revive checks an unfinished store and takes over its meta.
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
	// A store killed between seal and rename has a digest. It is unfinished again. Pieces without a blob are the
	// beginning of a content whose end was not committed.
	for _, s := range []string{"UPDATE golden SET digest=x''", fmt.Sprintf("DELETE FROM piece WHERE id>>%d NOT IN (SELECT id FROM blob)", pieceShift)} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	d, err := checkTables(ctx, conn, w.part)
	if err != nil {
		return err
	}
	if w.meta, err = decodeMeta(d.meta); err != nil {
		return err
	}
	rows, err := scan(ctx, conn, d, func(row) error { return nil })
	if err != nil {
		return err
	}
	d.digest = rows[:] // seal writes it
	found, err := inspect(ctx, conn, conn.PrepareContext, w.part, d)
	if err == nil {
		err = found.firstDamage()
	}
	return err
}

// Meta returns the meta that Create was given. After a Resume that may be another run's: compare
// Meta.Run, and call Abort(false) to discard it.
func (w *Writer) Meta() Meta { return w.meta }

// Put stores r and the contents of its parts and their variants. It replaces an earlier record of
// that name. It waits while other calls hold much memory; ctx ends the wait.
//
// An error leaves an earlier record unchanged. An error of content, or content that does not match
// its part, concerns this record only.
func (w *Writer) Put(ctx context.Context, r Record, content Content) error {
	r, err := canonical(r)
	if err != nil {
		return err
	}
	largest := int64(0) // one content is in memory at a time
	for p := range WithContent(&r.Outcome) {
		largest = max(largest, p.Size)
	}
	memory := memoryOf(largest)
	if err := w.memory.Acquire(ctx, memory); err != nil {
		return err
	}
	defer w.memory.Release(memory)
	return w.put(ctx, r, content)
}

// Bytes returns the whole content of a part that was Put.
func (w *Writer) Bytes(p outcome.Part) (b []byte, err error) {
	if !HasContent(p) {
		return nil, fmt.Errorf("%s: %w", name.Print(p.String()), errNoContent)
	}
	err = w.do(func() error {
		c, err := w.contents()
		if err != nil {
			return err
		}
		r, err := c.open(p)
		if err != nil {
			return err
		}
		b, err = r.all()
		return err
	})
	return b, err
}

// PutShared stores the digests of the files that all cases share, by name. It replaces those from
// before a Resume. Without PutShared they are unknown.
func (w *Writer) PutShared(files map[string]outcome.Digest) error {
	return w.do(func() error { return putShared(context.Background(), w.conn, files) })
}

// caseNames returns the names of all cases.
func caseNames(q querier) (map[string]bool, error) {
	names := map[string]bool{}
	err := eachRow(context.Background(), q, "SELECT name FROM outcome", nil, func(rows *sql.Rows) error {
		var caseName sql.RawBytes
		err := rows.Scan(&caseName)
		names[string(caseName)] = true
		return err
	})
	return names, err
}

// SetTool replaces the files of the tool in the meta, once all cases have shown what it uses, and the digest of
// its executable.
func (w *Writer) SetTool(files []ToolFile, executable outcome.Digest) error {
	m := w.meta
	m.Tool, m.ExecutableDigest = files, executable
	meta, err := encodeMeta(m)
	if err != nil {
		return err
	}
	return w.do(func() error { return writeMeta(context.Background(), w.conn, meta) })
}

// Finish completes the store and puts it at path, atomically: at every moment the old file or the
// new one is there. It closes the writer. After an error the unfinished store remains for Resume,
// and path is unchanged.
func (w *Writer) Finish() error {
	if w.closed {
		return errClosed
	}
	err := w.do(w.commit)
	if err == nil {
		err = w.do(w.seal)
	}
	if err == nil {
		err = w.do(w.commit)
	}
	w.sealed = err == nil
	if err = cmp.Or(err, w.closeDatabase()); err == nil {
		err = w.publish()
	}
	w.close()
	return err
}

// publish syncs the part and renames it, unless somebody put another file there since.
func (w *Writer) publish() error {
	if err := checkReplaceable(w.path); err != nil {
		return err
	}
	return replaceFile(w.part, w.path)
}

// replaceFile syncs a store and renames it to path.
func replaceFile(from, path string) error {
	if err := syncPath(from); err != nil {
		return err
	}
	if err := settleJournal(path); err != nil {
		return err
	}
	if err := os.Rename(from, path); err != nil {
		return fault.Environmentf("golden: %w", err)
	}
	if err := syncPath(filepath.Dir(path)); err != nil {
		return unflushedError(path, err)
	}
	return nil
}

// settleJournal removes the journal that a killed change of the old golden left. Otherwise SQLite
// would roll it back into the new golden. Opening the old golden rolls it back first, because the
// process may be killed before the rename. If that fails, the golden has no use for its journal.
func settleJournal(path string) error {
	if _, err := os.Stat(journal(path)); err != nil {
		return nil
	}
	if s, err := Open(path); err == nil {
		s.Close()
	}
	if err := os.Remove(journal(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fault.Environmentf("golden: %w", err)
	}
	return nil
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

// Abort closes the writer. With keep, everything that was Put remains for Resume, if the disk has
// room. Without keep, nothing remains. The file at path is unchanged. After Finish or Abort it does
// nothing.
func (w *Writer) Abort(keep bool) error {
	if w.closed {
		return nil
	}
	var err error
	if keep {
		err = w.do(w.commit)
	}
	err = cmp.Or(err, w.closeDatabase())
	if !keep {
		err = removeDatabase(w.part)
	}
	w.close()
	return err
}

// Kept returns the names of the cases that an incomplete part keeps for Resume. Call it after Finish or
// Abort.
func (w *Writer) Kept() (cases map[string]bool, incomplete bool) { return w.kept, !w.sealed }

// closeDatabase rolls back uncommitted changes.
func (w *Writer) closeDatabase() error {
	if w.db == nil {
		return nil
	}
	if w.editor != nil {
		w.editor.close()
		if !w.sealed {
			_ = w.exec("ROLLBACK") // an error means that nothing was open
			w.kept, _ = caseNames(w.conn)
		}
		w.conn.Close()
	}
	err := classify(w.part, w.db.Close())
	w.db = nil
	return err
}

// close releases everything that the writer holds, except its files. Afterwards another process may
// take its lock.
func (w *Writer) close() {
	if w.closed {
		return
	}
	w.closed = true
	w.closeDatabase()
	w.lock.release()
}
