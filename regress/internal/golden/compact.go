package golden

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"

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
	digest, err := checkRows(ctx, conn, path, info)
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

// checkRows checks all rows, as Open does, and returns their digest.
func checkRows(ctx context.Context, conn *sql.Conn, path string, info fs.FileInfo) (outcome.Digest, error) {
	d, err := checkTables(ctx, conn, path)
	if err != nil {
		return outcome.Digest{}, err
	}
	if err := checkSize(ctx, conn, path, info); err != nil {
		return outcome.Digest{}, err
	}
	digest, err := scan(ctx, conn, d, func(row) error { return nil })
	if err == nil {
		err = d.checkDigest(digest)
	}
	return digest, err
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
