package golden

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// CheckResult is the result of a check or a repair.
type CheckResult struct {
	Cases    int
	Contents int   // distinct and not empty
	Bytes    int64 // of these contents
	Damaged  []DamagedCase
	Lists    []error // damage that affects no single case
}

// DamagedCase is a case that cannot be read, or whose contents do not match their digests.
type DamagedCase struct {
	Name   string
	Reason error
}

// Whole reports whether nothing is damaged.
func (c *CheckResult) Whole() bool { return len(c.Damaged) == 0 && len(c.Lists) == 0 }

// firstDamage returns the first damage, or nil.
func (c *CheckResult) firstDamage() error {
	for _, d := range c.Damaged {
		return fmt.Errorf("case %s: %w", name.Print(d.Name), d.Reason)
	}
	return errors.Join(c.Lists...)
}

// Check reads the whole store: each record and content, the list of shared files, and all pages.
// Damage is in the result: an error means that the check failed.
func (s *Store) Check(ctx context.Context) (*CheckResult, error) {
	return inspect(ctx, s.db, s.db.PrepareContext, s.path, s.description)
}

// isDamage reports whether err means that the golden at path is damaged. Any other error comes from the machine, and
// the golden may be whole.
func isDamage(path string, err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) && regress.ClassOf(classify(path, err)) == regress.Input
}

// inspect reads everything in a file.
func inspect(ctx context.Context, q querier, prepare preparer, path string, d description) (*CheckResult, error) {
	c, err := newContents(prepare, func(err error) error { return err })
	if err != nil {
		return nil, err
	}
	defer c.close()
	found := &CheckResult{}
	rows, err := scan(ctx, q, d, func(row) error { return nil })
	if err == nil {
		err = d.checkDigest(rows)
	}
	_, sharedErr := readShared(ctx, q, d.shared)
	for _, err := range []error{err, sharedErr, checkPages(ctx, q)} {
		switch {
		case isDamage(path, err):
			found.Lists = append(found.Lists, err)
		case err != nil:
			return nil, err
		}
	}
	type content struct {
		digest outcome.Digest
		size   int64
	}
	seen := map[content]error{}
	unread, err := eachCase(ctx, q, path, func(caseName string, r Record, damage error) error {
		found.Cases++
		for p := range WithContent(&r.Outcome) {
			reason, known := seen[content{p.Digest, p.Size}]
			if !known {
				if reason = c.check(p); reason != nil && !isDamage(path, reason) {
					return reason
				}
				seen[content{p.Digest, p.Size}] = reason
				if p.Size > 0 {
					found.Contents++
					found.Bytes += p.Size
				}
			}
			if damage == nil {
				damage = reason
			}
		}
		if damage != nil {
			found.Damaged = append(found.Damaged, DamagedCase{caseName, damage})
		}
		return ctx.Err()
	})
	if unread != nil {
		found.Lists = append(found.Lists, fmt.Errorf("part of the list of cases cannot be read, and their names are unknown: %w", unread))
	}
	return found, err
}

// check reads a whole content and returns its damage.
func (c *contents) check(p outcome.Part) error {
	r, err := c.open(p)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// eachCase calls do for each case, with the damage of its row. If a page cannot be read, it goes on from
// the other end of the list, and returns the reason.
func eachCase(ctx context.Context, q querier, path string, do func(caseName string, r Record, damage error) error) (unread, err error) {
	const all = "SELECT name, digest, record FROM outcome ORDER BY name"
	last, stop := "", errors.New("all cases were read")
	visit := func(r row) error {
		rec, damage := r.toRecord()
		if damage == nil && rec.Name == "" {
			damage = errors.New("a case without a name")
		}
		err = do(string(r.name), rec, damage)
		return err
	}
	unread = eachRecord(ctx, q, all, func(r row) error {
		last = string(r.name)
		return visit(r)
	})
	if err != nil || unread == nil || !isDamage(path, unread) {
		return nil, unread
	}
	again := eachRecord(ctx, q, all+" DESC", func(r row) error {
		if string(r.name) <= last {
			return stop
		}
		return visit(r)
	})
	if err == nil && again != nil && again != stop && !isDamage(path, again) {
		err = again
	}
	return unread, err
}

// eachRecord calls do for each row of a query in the table outcome.
func eachRecord(ctx context.Context, q querier, query string, do func(row) error) error {
	return eachRow(ctx, q, query, nil, func(rows *sql.Rows) error {
		var name, digest, record sql.RawBytes
		if err := rows.Scan(&name, &digest, &record); err != nil {
			return err
		}
		return do(row{name, digest, record})
	})
}

// checkPages makes SQLite check all pages of the file.
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

// DamagedSuffix is the suffix of the damaged file that a repair keeps. A golden has at most one such
// file.
const DamagedSuffix = ".damaged"

// Repair replaces a damaged golden at path by one of its whole cases. A case is whole if its row matches its sum
// and its contents match their digests. Repair keeps the damaged file beside the golden. At every moment
// path holds the damaged golden or the repaired one. A whole golden is left alone.
//
// A golden whose header, tables or meta are damaged cannot be repaired: that is an error of
// class Input. It is also an error if an earlier repair kept a damaged file.
func Repair(ctx context.Context, path string) (*CheckResult, error) {
	path = resolve(path)
	info, err := checkHeader(path)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(path, copySuffix)
	if err != nil {
		return nil, err
	}
	defer w.Abort(false)
	db, err := openDatabase(path, readWrite)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	d, err := checkTables(ctx, db, path)
	if err == nil {
		err = checkSize(ctx, db, path, info)
	}
	if err != nil {
		return nil, classify(path, err)
	}
	found, err := inspect(ctx, db, db.PrepareContext, path, d)
	if err != nil {
		return nil, classify(path, err)
	}
	if found.Whole() {
		return found, nil
	}
	if err := w.copyWhole(ctx, db, d, found.Damaged); err != nil {
		return nil, classify(path, err)
	}
	if err := keepDamaged(path); err != nil {
		return nil, err
	}
	if err = w.Finish(); err != nil && !errors.Is(err, ErrUnflushed) {
		err = errors.Join(err, os.Remove(path+DamagedSuffix), removeDatabase(w.part))
	}
	return found, err
}

// copyWhole writes the cases that are not damaged.
func (w *Writer) copyWhole(ctx context.Context, db *sql.DB, d description, damaged []DamagedCase) error {
	m, err := d.decode()
	if err == nil {
		err = w.create(m)
	}
	if err != nil {
		return err
	}
	skip := map[string]bool{}
	for _, c := range damaged {
		skip[c.Name] = true
	}
	c, err := newContents(db.PrepareContext, func(err error) error { return err })
	if err != nil {
		return err
	}
	defer c.close()
	_, err = eachCase(ctx, db, w.path, func(caseName string, r Record, _ error) error {
		if skip[caseName] {
			return nil
		}
		return w.Put(ctx, r, func(p outcome.Part) (io.ReadCloser, error) { return c.open(p) })
	})
	if err != nil {
		return err
	}
	if shared, err := readShared(ctx, db, d.shared); err == nil && shared != nil {
		return w.PutShared(shared)
	}
	return nil
}

// keepDamaged gives the file at path a second name.
func keepDamaged(path string) error {
	err := os.Link(path, path+DamagedSuffix)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fault.Inputf("%s exists, from an earlier repair: move it away, then repair again", path+DamagedSuffix)
	case err != nil:
		return fault.Environmentf("the damaged golden cannot be kept as %s: %w: copy it to another disk, and repair it there", path+DamagedSuffix, fault.Reason(err))
	}
	return nil
}
