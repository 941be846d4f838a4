// Package keep stores the outcomes that a run keeps for cases that are not identical. Its input is
// the runs of a case, one by one, each with its likeness to the expected outcome. Its output is one
// record per case that joins all runs, and the verdict.
//
// It writes one store, which the next run can resume after an interrupt. It starts no run, and
// knows no options, reports or journal.
package keep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"muster/regress"
	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// A Store holds the outcomes of the cases that are not identical. The first record makes its file.
// Several goroutines may call its methods, until End.
type Store struct {
	Path    string
	Meta    golden.Meta
	Sources corpus.Digests // of the cases

	mu     sync.Mutex
	writer *golden.Writer
}

func (s *Store) open() (*golden.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer != nil {
		return s.writer, nil
	}
	w, err := golden.Create(s.Path, s.Meta)
	if err == nil {
		s.writer = w
	}
	return w, err
}

// Put stores the first run of a case to be kept.
func (s *Store) Put(ctx context.Context, name string, r *exec.Result, l Likeness) error {
	return s.add(ctx, FirstRecord(name, r, l), r.Open)
}

// PutAfter stores the first kept runs of a case after equal runs that were not kept. The outcome
// that those equalled stands for them.
func (s *Store) PutAfter(ctx context.Context, rec golden.Record, open content.Opener, equal int, e Equalled) error {
	own := rec.Outcome
	rec.Runs, rec.Equal = rec.Runs+equal, rec.Equal+equal
	if _, err := outcome.Merge(&rec.Outcome, e.Outcome, e.Same(open, e.Open)); err != nil {
		return err
	}
	return s.add(ctx, rec, func(p outcome.Part) (io.ReadCloser, error) {
		if hasContent(&own, p) {
			return open(p)
		}
		return e.Open(p)
	})
}

// add stores the record of a case.
func (s *Store) add(ctx context.Context, rec golden.Record, open content.Opener) error {
	w, err := s.open()
	if err != nil {
		return err
	}
	rec.Source = s.Sources.Case(rec.Name)
	return w.Put(ctx, rec, golden.Content(open))
}

// Get returns the record of a case, and whether it is stored.
func (s *Store) Get(name string) (golden.Record, bool, error) {
	s.mu.Lock()
	w := s.writer
	s.mu.Unlock()
	if w == nil {
		return golden.Record{}, false, nil
	}
	return w.Get(name)
}

// Merge joins a further run of a case with its stored record.
func (s *Store) Merge(ctx context.Context, name string, r *exec.Result, l Likeness, same content.Sameness) error {
	rec, _, err := s.Get(name)
	if err != nil {
		return err
	}
	l.count(&rec)
	_, err = MergeRun(ctx, s.writer, &rec, r, same)
	return err
}

// Drop removes the store.
func (s *Store) Drop() error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Abort(false)
}

// Content opens the content of a stored part.
func (s *Store) Content(p outcome.Part) (io.ReadCloser, error) {
	return ContentsIn(s.writer)(p)
}

// End completes the store. After an error, it keeps the unfinished store for --resume.
func (s *Store) End(err error) error {
	if s == nil || s.writer == nil {
		return nil
	}
	w := s.writer
	s.writer = nil
	if err != nil {
		return w.Abort(true)
	}
	return w.Finish()
}

// Resume opens the store that an interrupted run left at a path. If no file is there, the store is
// empty.
func Resume(path string, meta golden.Meta) (*Store, error) {
	s := &Store{Path: path, Meta: meta}
	w, err := golden.Resume(path)
	if err == nil {
		s.writer = w
		err = w.SetTool(meta.Tool, meta.ExecutableDigest) // the run may go on with another tool
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return s, err
}

// An Equalled outcome stands for runs that equalled it and were not kept.
type Equalled struct {
	Outcome *outcome.Outcome
	Open    content.Opener
	Same    content.Sameness
}

// hasContent reports whether a run of o left the content of a part.
func hasContent(o *outcome.Outcome, p outcome.Part) bool {
	own, found := o.Part(p.Key)
	return found && (own.Digest == p.Digest || slices.ContainsFunc(own.Variants, func(v outcome.Variant) bool { return v.Digest == p.Digest }))
}

// A Likeness is how one run of a candidate compares with the expected outcome, as a whole.
type Likeness int

// count adds a run to the record of its case. It ignores a run that was cut short.
func (l Likeness) count(rec *golden.Record) {
	if l == CutShort {
		return
	}
	rec.Runs++
	if l == Alike {
		rec.Equal++
	}
}

// All ways to compare, a closed set.
const (
	Unlike    Likeness = iota
	Alike              // no compared part differs
	CutShort           // a limit ended it, as one ended a run of the golden: it proves nothing
	Unmatched          // the golden has no outcome for it
)

// Compare compares one run with the golden outcome of its case.
func Compare(old, now *outcome.Outcome, same outcome.Same) (Likeness, error) {
	if outcome.LimitKnown(old, now) {
		return CutShort, nil
	}
	c, err := outcome.Compare(old, now, same)
	if err == nil && c.Identical() {
		return Alike, nil
	}
	return Unlike, err
}

// Judge returns the verdict on a case whose runs are joined in rec. The case is flaky if some runs
// equal the golden as a whole and others do not. If no run does, the kept run decides: c compares
// it with the golden outcome old. A case is unstable if its runs differ from each other and those
// of the golden do not.
func Judge(old *outcome.Outcome, rec *golden.Record, c outcome.Comparison) (v regress.Verdict, unstable bool) {
	switch {
	case rec.Equal == 0 && rec.Runs > 0 && c.Identical():
		return regress.Flaky, false // a later run of the reference varies in all parts that differ
	case rec.Equal == 0:
		return outcome.Judge(old, rec.Outcome.Kept(), c), rec.Outcome.VariesBeyond(old)
	case rec.Equal < rec.Runs:
		return regress.Flaky, false
	}
	return regress.Identical, false
}

// FirstRecord returns the record of a case with one run.
func FirstRecord(name string, r *exec.Result, l Likeness) golden.Record {
	rec := golden.Record{Name: name, Outcome: r.Outcome, Cost: r.Cost}
	l.count(&rec)
	return rec
}

// ContentsIn opens the contents of parts in a writer.
func ContentsIn(w *golden.Writer) func(outcome.Part) (io.ReadCloser, error) {
	return func(p outcome.Part) (io.ReadCloser, error) {
		b, err := w.Bytes(p)
		return io.NopCloser(bytes.NewReader(b)), err
	}
}

// MergeRun joins a further run of a case with the record of the earlier runs, which is in the
// writer. It reports whether they differ. The caller counts the run.
func MergeRun(ctx context.Context, w *golden.Writer, rec *golden.Record, r *exec.Result, same content.Sameness) (differ bool, err error) {
	merged, err := outcome.Merge(&rec.Outcome, &r.Outcome, same(ContentsIn(w), r.Open))
	if err != nil {
		return false, err
	}
	if merged == outcome.Replaced {
		rec.Cost = r.Cost
	}
	// The writer asks for the contents that it lacks: those of a replacement.
	return merged != outcome.Nothing, w.Put(ctx, *rec, r.Open)
}
