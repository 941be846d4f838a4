package golden

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/outcome"
)

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
		s.meta, err = decodeMeta(d.meta)
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
