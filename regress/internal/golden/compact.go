package golden

import (
	"context"
	"errors"
	"os"

	"muster/regress/internal/fault"
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
	s, err := Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, fault.Environmentf("golden: %w", err)
	}
	copied := path + copySuffix
	if err := checkReplaceable(copied); err != nil {
		return 0, 0, err
	}
	if err := removeDatabase(copied); err != nil { // left by a Compact that was killed
		return 0, 0, err
	}
	if after, err = s.copyTo(ctx, copied); err == nil {
		err = os.Chmod(copied, info.Mode().Perm())
	}
	if err == nil {
		err = replaceFile(copied, path)
	}
	if err != nil {
		return 0, 0, errors.Join(err, removeDatabase(copied))
	}
	return info.Size(), after, nil
}

// copyTo writes the store without unused space to a path, and returns its size.
func (s *Store) copyTo(ctx context.Context, path string) (int64, error) {
	_, err := s.db.ExecContext(ctx, "VACUUM INTO ?", path)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, s.classifyRead(err)
	}
	c, err := Open(path)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if c.Digest() != s.Digest() {
		return 0, fault.Environmentf("golden %s: its copy has another digest: try again", s.path)
	}
	z, err := c.Sizes()
	return z.File, err
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
