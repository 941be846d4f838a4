package golden

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"muster/internal/realpath"
	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
)

// copySuffix is the suffix of the file that Compact and Repair write. A Writer has another
// suffix, because its unfinished store stays for Resume.
const copySuffix = ".new"

// Compact frees the unused space of the golden at path. It writes a copy beside the golden and
// renames it, so that a whole golden exists at every moment. It returns the size of the file before
// and after.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	path = resolve(path)
	l, err := acquireUpdate(path)
	if err != nil {
		return 0, 0, err
	}
	defer l.release()
	info, err := checkFiles(path)
	if err != nil {
		return 0, 0, err
	}
	copied := path + copySuffix
	if err := errors.Join(checkReplaceable(copied), checkJournal(journal(copied))); err != nil {
		return 0, 0, err
	}
	if err := removeDatabase(copied); err != nil { // left by a Compact that was killed
		return 0, 0, err
	}
	err = vacuum(ctx, path, copied, info)
	if err == nil {
		err = replaceFile(path, copied, info.Mode())
	}
	if err != nil {
		return 0, 0, errors.Join(err, removeDatabase(copied))
	}
	now, err := os.Stat(path)
	if err != nil {
		return 0, 0, fault.Environmentf("golden: %w", err)
	}
	return info.Size(), now.Size(), nil
}

// vacuum checks the golden at path, writes a copy without unused space, and checks the copy.
func vacuum(ctx context.Context, path, copied string, info fs.FileInfo) error {
	db, err := openDatabase(path, readWrite)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return classify(path, err)
	}
	defer conn.Close()
	_, digest, err := checkRows(ctx, conn, path, info, func(row) error { return nil })
	if err == nil {
		_, err = conn.ExecContext(ctx, "VACUUM INTO ?", copied)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return classify(path, err)
	}
	s, err := Open(copied)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Digest() != digest {
		return fault.Environmentf("golden %s: its copy has another digest: try again", path)
	}
	return nil
}

// checkRows checks all rows, as Open does, and calls visit for each. It also returns their digest.
func checkRows(
	ctx context.Context, conn *sql.Conn, path string, info fs.FileInfo, visit func(row) error,
) (d description, digest outcome.Digest, err error) {
	if d, err = checkTables(ctx, conn, path); err != nil {
		return d, digest, err
	}
	if err := checkSize(ctx, conn, path, info); err != nil {
		return d, digest, err
	}
	if digest, err = scan(ctx, conn, d, visit); err == nil {
		err = d.checkDigest(digest)
	}
	return d, digest, err
}

// replaceFile replaces the golden at path by a copy.
func replaceFile(path, copied string, mode fs.FileMode) error {
	if err := os.Chmod(copied, mode.Perm()); err != nil {
		return fault.Environmentf("golden: %w", err)
	}
	if err := syncPath(copied); err != nil {
		return err
	}
	if err := settleJournal(path); err != nil {
		return err
	}
	return putInPlace(copied, path)
}

// Sizes are the sizes of a store and its contents.
type Sizes struct {
	File     int64 // bytes of the file
	Unused   int64 // bytes of the file that Compact would free
	Contents int   // distinct contents
	Plain    int64 // bytes of the contents, unpacked
	Packed   int64 // bytes of the contents in the file
}

// Sizes returns the sizes of the store. It reads no content.
func (s *Store) Sizes() (Sizes, error) {
	var z Sizes
	var pages, unused, size int64
	for query, into := range map[string][]any{
		"PRAGMA page_count": {&pages}, "PRAGMA freelist_count": {&unused}, "PRAGMA page_size": {&size},
		"SELECT count(*), coalesce(sum(size), 0) FROM blob": {&z.Contents, &z.Plain},
		"SELECT coalesce(sum(length(data)), 0) FROM piece":  {&z.Packed},
	} {
		if err := s.db.QueryRow(query).Scan(into...); err != nil {
			return z, s.classifyRead(err)
		}
	}
	z.File, z.Unused = pages*size, unused*size
	return z, nil
}

// CheckPages makes SQLite check all pages of the file. Open reads only the pages that it
// needs; a change of the golden may need others.
func (s *Store) CheckPages(ctx context.Context) error {
	if err := checkPages(ctx, s.db); err != nil {
		return s.classifyRead(err)
	}
	return nil
}

func checkPages(ctx context.Context, q querier) error {
	var says string
	if err := q.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&says); err != nil {
		return err
	}
	if says != "ok" {
		return errPages // says has SQLite's words for pages and trees
	}
	return nil
}

// magic is the beginning of every SQLite file.
const magic = "SQLite format 3\x00"

// journalMagic is the beginning of SQLite's journals.
const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// CheckReplaceable returns nil if a new golden may replace the file at path: nothing, an empty file, or
// a golden of a format that this muster reads, damaged or not. Anything else belongs to somebody,
// and the error is of class Input. Create calls it. Callers with costly work ahead call it before
// that work.
func CheckReplaceable(path string) error {
	path, err := realpath.Of(path)
	if err != nil {
		return fault.Inputf("golden %w", err)
	}
	for _, p := range []string{path, path + partSuffix} {
		if err := checkReplaceable(p); err != nil {
			return err
		}
		if err := checkJournal(journal(p)); err != nil {
			return err
		}
	}
	return nil
}

// checkJournal refuses a file with the name of SQLite's journal that is not one, because it would
// be removed. Before its first sync, a journal has zeros instead of its magic.
func checkJournal(path string) error {
	var h [len(journalMagic)]byte
	n, err := readHead(path, h[:])
	if err != nil {
		return err
	}
	if b := h[:n]; string(b) != journalMagic && len(bytes.Trim(b, "\x00")) > 0 {
		return occupiedError(path, "it is not the journal of a golden")
	}
	return nil
}

// readHead fills h with the beginning of a file, and returns how many bytes it has. A file that does
// not exist has none.
func readHead(path string, h []byte) (n int, err error) {
	f, _, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if n, err = io.ReadFull(f, h); err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, fault.Environmentf("golden: %w", err)
	}
	return n, nil
}

func checkReplaceable(path string) error {
	var h [headerBytes]byte
	n, err := readHead(path, h[:])
	switch {
	case err != nil || n == 0:
		return err
	case !isGolden(h[:n]):
		return occupiedError(path, "it is not a muster golden")
	case n < headerBytes: // a golden that is cut off within its header shows no format
		return nil
	}
	if version := binary.BigEndian.Uint32(h[headerUserVersion:]); version > Version {
		return fault.Inputf("golden %s is not replaced: a newer muster made it: it has format %d, and this muster knows formats up to %d: name another --golden, or move it away", path, version, Version)
	}
	return nil
}

// isGolden reports whether h is the beginning of a golden.
func isGolden(h []byte) bool {
	return len(h) >= headerApplication+4 && bytes.HasPrefix(h, []byte(magic)) &&
		binary.BigEndian.Uint32(h[headerApplication:]) == applicationID
}

// checkRegular returns an error unless path names a regular file.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return openError(path, err)
	case !info.Mode().IsRegular():
		return occupiedError(path, "it is "+kindOf(info.Mode()))
	}
	return nil
}

// openRegular opens the file at path for reading. It refuses other kinds of files before it opens
// them: opening a named pipe would wait for a writer, and opening a device may have effects.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	if err := checkRegular(path); err != nil {
		return nil, nil, err
	}
	// The name may belong to another file by now.
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = openError(path, err)
	case !info.Mode().IsRegular():
		err = occupiedError(path, "it is "+kindOf(info.Mode()))
	default:
		return f, info, nil
	}
	f.Close()
	return nil, nil, err
}

// occupiedError returns the error for a file that must not be replaced by a golden.
func occupiedError(path, why string) error {
	return fault.Inputf("golden %s: %s: name another --golden, or move it away", path, why)
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}
