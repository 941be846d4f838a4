package regress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"muster/regress/internal/content"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
)

// outcomes is the store of what a run found not to be identical. It is made
// when there is something to put into it. Its methods may be called from
// several goroutines, until end.
type outcomes struct {
	path    string
	meta    golden.Meta
	sources corpus.Digests // of the cases

	mu     sync.Mutex
	writer *golden.Writer
}

// resumeOutcomes goes on with what an interrupted run has stored.
func resumeOutcomes(path string, meta golden.Meta) (*outcomes, error) {
	s := &outcomes{path: path, meta: meta}
	w, err := golden.Resume(path)
	if err == nil {
		s.writer = w
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return s, err
}

func (s *outcomes) open() (*golden.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer != nil {
		return s.writer, nil
	}
	w, err := golden.Create(s.path, s.meta)
	if err == nil {
		s.writer = w
	}
	return w, err
}

// put stores the first run of a case that is kept.
func (s *outcomes) put(ctx context.Context, name string, r *exec.Result, l likeness) error {
	return s.add(ctx, ranOnce(name, r, l), r.Open)
}

// ranOnce is the record of one run.
func ranOnce(name string, r *exec.Result, l likeness) golden.Record {
	rec := golden.Record{Name: name, Outcome: r.Outcome, Cost: r.Cost}
	l.count(&rec)
	return rec
}

// putAfter stores the first runs of a case that are kept, after equal runs that are not: the
// outcome that they equalled stands for them.
func (s *outcomes) putAfter(ctx context.Context, rec golden.Record, open content.Opener, equal int, e equalled) error {
	own := rec.Outcome
	rec.Runs, rec.Equal = rec.Runs+equal, rec.Equal+equal
	if _, err := outcome.Merge(&rec.Outcome, e.outcome, e.same(open, e.open)); err != nil {
		return err
	}
	return s.add(ctx, rec, func(p outcome.Part) (io.ReadCloser, error) {
		if has(&own, p) {
			return open(p)
		}
		return e.open(p)
	})
}

// has reports whether a run of o left that content of a part.
func has(o *outcome.Outcome, p outcome.Part) bool {
	own, found := o.Part(p.Key)
	return found && (own.Digest == p.Digest || slices.ContainsFunc(own.Variants, func(v outcome.Variant) bool { return v.Digest == p.Digest }))
}

// equalled is the outcome that runs equalled which are not kept.
type equalled struct {
	outcome *outcome.Outcome
	open    content.Opener
	same    content.Sameness
}

// add stores the record of a case.
func (s *outcomes) add(ctx context.Context, rec golden.Record, open content.Opener) error {
	w, err := s.open()
	if err != nil {
		return err
	}
	rec.Source = s.sources.Case(rec.Name)
	return w.Put(ctx, rec, golden.Content(open))
}

// get returns what is stored of a case.
func (s *outcomes) get(name string) (golden.Record, bool, error) {
	s.mu.Lock()
	w := s.writer
	s.mu.Unlock()
	if w == nil {
		return golden.Record{}, false, nil
	}
	return w.Get(name)
}

// merge takes a further run of a case into what is stored of it.
func (s *outcomes) merge(ctx context.Context, name string, r *exec.Result, l likeness, same content.Sameness) error {
	rec, _, err := s.get(name)
	if err != nil {
		return err
	}
	l.count(&rec)
	_, err = merge(ctx, s.writer, &rec, r, same)
	return err
}

// join adds the runs of a case that another store has.
func (s *outcomes) join(ctx context.Context, from *outcomes, name string, same content.Sameness) error {
	rec, stored, err := s.get(name)
	if err != nil {
		return err
	}
	if !stored {
		rec, stored, err = from.get(name)
		if err != nil || !stored {
			return err
		}
		return s.add(ctx, rec, from.content)
	}
	return from.joinTo(ctx, s.writer, rec, same)
}

// joinTo adds the runs of a case, where there are any, to its record in a writer.
func (s *outcomes) joinTo(ctx context.Context, w *golden.Writer, rec golden.Record, same content.Sameness) error {
	further, stored, err := s.get(rec.Name)
	if err != nil || !stored {
		return err
	}
	merged, err := outcome.Merge(&rec.Outcome, &further.Outcome, same(contentsIn(w), s.content))
	if err != nil {
		return err
	}
	if merged == outcome.Replaced {
		rec.Cost = further.Cost
	}
	rec.Runs, rec.Equal = rec.Runs+further.Runs, rec.Equal+further.Equal
	return w.Put(ctx, rec, s.content) // Put asks for contents that w lacks
}

// drop removes the store.
func (s *outcomes) drop() error {
	if s.writer == nil {
		return nil
	}
	return s.writer.Abort(false)
}

// content opens the content of a stored part.
func (s *outcomes) content(p outcome.Part) (io.ReadCloser, error) {
	return contentsIn(s.writer)(p)
}

// contentsIn opens the contents of parts that are in a writer.
func contentsIn(w *golden.Writer) func(outcome.Part) (io.ReadCloser, error) {
	return func(p outcome.Part) (io.ReadCloser, error) {
		b, err := w.Bytes(p)
		return io.NopCloser(bytes.NewReader(b)), err
	}
}

// merge takes a further run of a case into the record of those before, which
// is in the writer, and reports whether they differ. The caller counts the run.
func merge(ctx context.Context, w *golden.Writer, rec *golden.Record, r *exec.Result, same content.Sameness) (differ bool, err error) {
	merged, err := outcome.Merge(&rec.Outcome, &r.Outcome, same(contentsIn(w), r.Open))
	if err != nil {
		return false, err
	}
	if merged == outcome.Replaced {
		rec.Cost = r.Cost
	}
	// The writer asks for the contents that it has not: those of a replacement.
	return merged != outcome.Nothing, w.Put(ctx, *rec, r.Open)
}

// end completes the store, or, after an error, keeps what is in it for
// --resume.
func (s *outcomes) end(err error) error {
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
