package golden

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"muster/internal/filelock"
	"muster/internal/realpath"
	"muster/regress"
	"muster/regress/internal/fault"
)

// querier is the common interface of a connection, a transaction and a database.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// eachRow calls do for each row of a query. A do that fails ends it.
func eachRow(ctx context.Context, q querier, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// How a file is opened.
const (
	readWrite = "rw" // or only for reading, if the system permits no more
	create    = "rwc"
)

// busyMillis is how long readers wait for a writer's commit, and the reverse. Both take
// milliseconds. Writers never wait for each other: they hold a lock (see acquire).
const busyMillis = 10_000

// openDatabase opens the database at path and sets its pragmas. By default SQLite trusts schemas,
// and a golden may come from anywhere.
func openDatabase(path, mode string, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.Environmentf("golden %s: %w", path, err)
	}
	values := url.Values{
		"mode":       {mode},
		"_defensive": {"1"},
		"_error_rc":  {"1"},
		"_pragma": append([]string{
			fmt.Sprintf("busy_timeout(%d)", busyMillis), "trusted_schema(0)", "cell_size_check(1)",
		}, pragmas...),
	}
	// A URI, so that no byte of the path can be taken for an option.
	uri := url.URL{Scheme: "file", Path: abs, RawQuery: values.Encode()}
	connector, err := sqlite.NewConnector(uri.String())
	if err != nil {
		return nil, fault.Environmentf("golden %s: %w", path, err)
	}
	return sql.OpenDB(connector), nil
}

// code returns SQLite's extended result code, or -1.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return -1
}

// primary masks the primary code of an extended result code.
const primary = 0xff

// classify gives an error of SQLite its class. Any other error without a class came from damaged
// data.
func classify(path string, err error) error {
	c := code(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(regress.Classified)):
		return err // classified where it was found
	case c == -1:
		return damageError(path, err)
	case c == sqlite3.SQLITE_IOERR_SHORT_READ:
		return damageError(path, errors.New("it is cut off"))
	case c == sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return unflushedError(path, err)
	case c == sqlite3.SQLITE_READONLY_ROLLBACK, c == sqlite3.SQLITE_IOERR_DELETE: // of the journal
		return fault.Environmentf("golden %s has an interrupted change that must be rolled back, and you may not write it: make it and its folder writable, or open it once as a user who may write", path)
	case c == sqlite3.SQLITE_IOERR_WRITE:
		return fault.Environmentf("golden %s: a write failed: raise the limit on file sizes (ulimit -f), or look for a failing disk", path)
	}
	switch c & primary {
	case sqlite3.SQLITE_CORRUPT:
		return damageError(path, errPages)
	case sqlite3.SQLITE_IOERR:
		return fault.Environmentf("golden %s: %w: check the disk and its file system", path, err)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return foreignError(path)
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT:
		return damageError(path, err)
	case sqlite3.SQLITE_FULL:
		return fault.Environmentf("golden %s: the disk is full: make room there", path)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.Environmentf("golden %s is held by another process: try again", path)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fault.Environmentf("golden %s: %w: make it and its folder readable (and writable, to change it)", path, err)
	}
	return fault.Environmentf("golden %s: %w", path, err)
}

// ErrUnflushed reports that the golden is the new one, and its folder could not be flushed.
var ErrUnflushed = errors.New("a power loss may bring back the old one")

func unflushedError(path string, err error) error {
	return fault.Environmentf("%s is the new golden, but %w: %w", path, ErrUnflushed, err)
}

// errPages reports bad pages. SQLite also calls a page bad that the system failed to read. To read the
// file here and see would release SQLite's locks: they belong to the process, and end when it closes
// any descriptor of the file.
var errPages = errors.New("pages of the file are damaged, or the disk failed to read them")

// Damage is the reason why a golden cannot be trusted. Every error about damage wraps one.
type Damage struct{ Reason error }

// Error returns the reason.
func (d *Damage) Error() string { return d.Reason.Error() }

// Unwrap returns the reason.
func (d *Damage) Unwrap() error { return d.Reason }

// damageError returns the error for a golden that cannot be trusted.
func damageError(path string, reason error) error {
	return fault.Inputf("golden %s is damaged: %w: restore it from a backup, record it again, or keep its whole cases with muster golden repair", path, &Damage{reason})
}

// foreignError returns the error for a file that is not a golden.
func foreignError(path string) error {
	return fault.Inputf("%s is %w: record it again, restore it from a backup, or name another with --golden", path, &Damage{errors.New("not a muster golden")})
}

// openError returns the error for a golden that the system cannot open.
func openError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Inputf("no golden %s: record one, or name it with --golden: %w", path, err)
	}
	if errors.Is(err, unix.ENOTDIR) {
		return fault.Inputf("golden %s cannot exist: a folder of its path is a file: name another --golden", path)
	}
	return fault.Environmentf("golden: %w", err)
}

// resolve follows links at path. SQLite puts its journal beside the file itself. It returns path if
// the links lead nowhere; CheckReplaceable has the error.
func resolve(path string) string {
	if to, err := realpath.Of(path); err == nil {
		return to
	}
	return path
}

// journal returns where SQLite keeps the rollback journal of the file at path.
func journal(path string) string { return path + "-journal" }

// Files returns all paths that may hold a file of the store at path: its own, those beside it
// during a write or after a kill, and the damaged file that a repair kept. None of them is a user's
// source.
func Files(path string) []string {
	part, copied := path+partSuffix, path+copySuffix
	return []string{
		path, journal(path), part, journal(part), copied, journal(copied), path + lockSuffix, path + DamagedSuffix,
	}
}

// removeDatabase removes the file at path, then its journal. In the other order a file without its
// journal could be taken for a whole one.
func removeDatabase(path string) error {
	for _, p := range []string{path, journal(path)} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Environmentf("golden: %w", err)
		}
	}
	return nil
}

// lock is the right to write a golden or to build its successor. The kernel releases it when the
// process ends, however it ends.
//
// SQLite's own locks are not enough. They belong to a file that a rename replaces, and do not show
// who holds them.
type lock struct{ file *os.File }

// lockSuffix is the suffix of the lock file.
const lockSuffix = ".lock"

// acquire takes the lock of the golden at path, without waiting.
func acquire(path string) (*lock, error) {
	for {
		f, err := os.OpenFile(path+lockSuffix, os.O_CREATE|os.O_RDWR|unix.O_NONBLOCK, 0o644)
		if err != nil {
			return nil, unwritableError(path, err)
		}
		// Other programs have files that end in ".lock", too. They are longer than the number of a process.
		if info, err := f.Stat(); err != nil || info.Size() > int64(len("18446744073709551615\n")) {
			f.Close()
			return nil, occupiedError(path+lockSuffix, "it is not the lock of a golden")
		}
		current, err := filelock.Take(f)
		if current && err == nil {
			filelock.Sign(f)
			return &lock{f}, nil
		}
		f.Close() // the holder before may have removed it between open and lock
		if errors.Is(err, filelock.ErrHeld) {
			return nil, fault.Inputf("another muster%s is writing %s: wait for it", filelock.Holder(f.Name()), path)
		}
		if err != nil {
			return nil, fault.Environmentf("lock of golden %s: %w", path, fault.Reason(err))
		}
	}
}

// release releases the lock and removes its file.
func (l *lock) release() {
	os.Remove(l.file.Name())
	l.file.Close()
}

// unwritableError returns the error for a golden that may not be changed.
func unwritableError(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("golden %s: its folder does not exist: make it, or name another file", path)
	}
	return fault.Environmentf("golden %s can't be written: %w: make it and its folder writable, or work on a copy", path, fault.Reason(err))
}
