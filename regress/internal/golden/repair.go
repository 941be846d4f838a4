package golden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

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

func alreadyKept(damaged string) error {
	return fault.Inputf("%s exists, from an earlier repair: move it away, then repair again", damaged)
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
		return alreadyKept(kept)
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
