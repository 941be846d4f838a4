package golden

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// damagedSuffix is the suffix of the damaged file that a repair keeps. A golden has at most
// one such file.
const damagedSuffix = ".damaged"

// DroppedCase is a case that a repair drops.
type DroppedCase struct {
	Name   string
	Reason error
}

// RepairResult is the result of a repair.
type RepairResult struct {
	Whole   bool          // nothing was damaged, and nothing was changed
	Kept    int           // cases
	Dropped []DroppedCase // by name
	// Unreadable is the reason why part of the list of cases could not be read. The names of those
	// cases are unknown. It is nil if the whole list was read.
	Unreadable error
	Lists      []error // other damage, not of contents
	SharedLost bool    // the digests of the shared files are lost
	Damaged    string  // path of the damaged file, which is kept
}

// Repair replaces the golden at path by one of its whole cases. A case is whole if its row
// matches its sum and all its contents match their digests. Repair keeps the damaged file
// beside the golden.
//
// A golden whose header, tables or meta are damaged cannot be repaired: that is an error of
// class Input. It is also an error if an earlier repair kept a damaged file.
//
// At every moment path holds the damaged golden or the repaired one.
func Repair(ctx context.Context, path string) (done RepairResult, err error) {
	path = resolve(path)
	if _, err := checkFiles(path); err != nil {
		return done, err
	}
	done.Damaged = path + damagedSuffix
	w, err := newWriter(path, copySuffix)
	if err != nil {
		return done, err
	}
	defer w.releaseAll()
	s, err := openSalvage(ctx, path)
	if err != nil {
		return done, classify(path, err)
	}
	defer s.close()
	if err := errors.Join(checkReplaceable(w.part), checkJournal(journal(w.part))); err != nil {
		return done, err
	}
	if err := w.create(s.meta, s.encoded); err != nil {
		return done, err
	}
	if err := s.copyTo(ctx, w, &done); err != nil || done.Whole {
		return done, errors.Join(err, w.Abort(false))
	}
	return done, w.replaceDamaged(done.Damaged)
}

// copyTo writes all whole cases to w.
func (s *salvage) copyTo(ctx context.Context, w *Writer, done *RepairResult) error {
	lost := map[outcome.Digest]error{}
	for _, r := range s.records {
		if err := ctx.Err(); err != nil {
			return err
		}
		var missing error
		err := w.Put(ctx, r, func(p outcome.Part) (io.ReadCloser, error) {
			if missing = lost[p.Digest]; missing == nil {
				missing = s.check(p)
			}
			if missing != nil {
				lost[p.Digest] = missing
				return nil, missing
			}
			return s.content.open(p)
		})
		if missing != nil {
			err = s.damage(ctx, missing, func() { s.drop(r.Name, missing) })
		} else if err == nil {
			done.Kept++
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(s.dropped, func(a, b DroppedCase) int { return strings.Compare(a.Name, b.Name) })
	done.Dropped, done.Unreadable, done.Lists = s.dropped, s.cut, s.lists
	done.Whole = len(done.Dropped) == 0 && done.Unreadable == nil && len(done.Lists) == 0
	done.SharedLost = s.shared == nil && s.hadShared
	if s.shared == nil {
		return nil
	}
	return w.PutShared(s.shared)
}

// check reads a whole content and returns its damage.
func (s *salvage) check(p outcome.Part) error {
	r, err := s.content.open(p)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if code(err) != -1 {
		err = fmt.Errorf("output %s of %s: %w", p.Digest, name.Print(p.String()), err)
	}
	return err
}

// replaceDamaged keeps the damaged golden and then finishes the new one.
func (w *Writer) replaceDamaged(kept string) error {
	err := keepDamaged(w.path, kept)
	if err == nil {
		if err = w.Finish(); err != nil {
			err = errors.Join(err, os.Remove(kept))
		}
	}
	if err != nil {
		return errors.Join(err, removeDatabase(w.part))
	}
	return nil
}

// keepDamaged gives the file at path a second name, or copies it if the file system has no links.
func keepDamaged(path, kept string) error {
	err := os.Link(path, kept)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fault.Inputf("%s exists, from an earlier repair: move it away, then repair again", kept)
	}
	if err := copyNew(path, kept); err != nil {
		return fault.Environmentf("the damaged golden cannot be kept as %s: %w", kept, err)
	}
	return nil
}

// copyNew copies a file to a path. It fails if a file exists there.
func copyNew(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err = io.Copy(w, r); err == nil {
		err = w.Sync()
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// salvage is the readable rows of a damaged golden.
type salvage struct {
	path    string
	meta    Meta
	encoded []byte        // meta, as in the file
	records []Record      // the whole records, by name
	dropped []DroppedCase // the others
	cut     error         // the reason why part of the list of cases cannot be read, or nil
	// shared is nil if the files are unknown. If hadShared is true, they are lost.
	shared    map[string]outcome.Digest
	hadShared bool
	lists     []error // other damage, not of contents
	db        *sql.DB
	content   *contents
}

// openSalvage reads all rows of the golden at path. The caller must hold the lock.
func openSalvage(ctx context.Context, path string) (*salvage, error) {
	if err := rollBackAny(ctx, path); err != nil {
		return nil, err
	}
	db, err := openDatabase(path, readOnly)
	if err != nil {
		return nil, err
	}
	s := &salvage{path: path, db: db}
	if err := s.load(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// rollBackAny rolls back the change of a killed process, if the golden has one.
func rollBackAny(ctx context.Context, path string) error {
	db, err := openDatabase(path, readOnly)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := formatOf(ctx, db, path); !needsRollback(err) {
		return nil
	}
	return rollBack(ctx, path)
}

func (s *salvage) close() {
	if s.content != nil {
		s.content.close()
	}
	s.db.Close()
}

// load reads all rows. It fails if the tables or the meta are damaged, because the tool and the
// settings of the outcomes are then unknown.
func (s *salvage) load(ctx context.Context) error {
	d, err := checkTables(ctx, s.db, s.path)
	if err == nil {
		s.meta, err = d.decode()
	}
	if err != nil {
		return err
	}
	if s.content, err = newContents(s.db.PrepareContext, func(err error) error { return err }); err != nil {
		return err
	}
	s.encoded, s.hadShared = d.meta, len(d.shared) > 0
	for _, check := range []func() error{
		func() error {
			digest, err := scan(ctx, s.db, d, func(row) error { return nil })
			if err != nil {
				return err
			}
			return d.checkDigest(digest)
		},
		func() error {
			s.shared, err = readShared(ctx, s.db, d.shared)
			return err
		},
		func() error { return checkPages(ctx, s.db) },
	} {
		err := check()
		if err := s.damage(ctx, err, func() { s.lists = append(s.lists, err) }); err != nil {
			return err
		}
	}
	return s.readRows(ctx)
}

// damage calls note if err means that the golden is damaged. It returns errors of the machine and
// the end of ctx. Rows that were not read for these reasons are not lost.
func (s *salvage) damage(ctx context.Context, err error, note func()) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case regress.ClassOf(classify(s.path, err)) != regress.Input:
		return classify(s.path, err)
	}
	note()
	return nil
}

// readRows reads the cases from both ends. An unreadable page ends a walk. The walk from the other
// end reaches the cases beyond that page.
func (s *salvage) readRows(ctx context.Context) error {
	last := ""
	cut := s.walk(ctx, "SELECT name, digest, record FROM outcome ORDER BY name", func(n string) bool {
		last = n
		return true
	})
	if err := s.damage(ctx, cut, func() { s.cut = cut }); err != nil {
		return err
	}
	if cut != nil {
		back := s.walk(ctx, "SELECT name, digest, record FROM outcome ORDER BY name DESC", func(n string) bool { return n > last })
		if err := s.damage(ctx, back, func() {}); err != nil {
			return err
		}
	}
	slices.SortFunc(s.records, func(a, b Record) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// walk reads rows until wanted returns false for a name.
func (s *salvage) walk(ctx context.Context, query string, wanted func(string) bool) error {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.name, &r.digest, &r.record); err != nil {
			return err
		}
		if !wanted(string(r.name)) {
			return nil
		}
		s.addRow(r)
	}
	return rows.Err()
}

func (s *salvage) addRow(r row) {
	if len(r.digest) != len(outcome.Digest{}) {
		s.drop(string(r.name), errors.New("a row without a digest"))
		return
	}
	rec, err := decodeRecord(string(r.name), r.record, outcome.Digest(r.digest))
	if err == nil {
		err = checkOrigin(rec.Name, rec.Origin, len(s.meta.Accepts))
	}
	if err == nil && rec.Name == "" {
		err = errors.New("no name")
	}
	if err != nil {
		s.drop(string(r.name), err)
		return
	}
	s.records = append(s.records, rec)
}

func (s *salvage) drop(caseName string, reason error) {
	s.dropped = append(s.dropped, DroppedCase{caseName, reason})
}
