package regress

import (
	"context"
	"errors"
	"os"
	"sync"

	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
)

// outcomes is the store of what a run found not to be identical. It is made
// when there is something to put into it. Its methods may be called from
// several goroutines, until finish.
type outcomes struct {
	path string
	meta golden.Meta

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

func (s *outcomes) put(ctx context.Context, name string, r *exec.Result) error {
	w, err := s.open()
	if err != nil {
		return err
	}
	return w.Put(ctx, golden.Record{Name: name, Outcome: r.Outcome, Cost: r.Cost, Runs: 1}, r.Open)
}

// get returns what an interrupted run has stored of a case.
func (s *outcomes) get(name string) (golden.Record, bool, error) {
	s.mu.Lock()
	w := s.writer
	s.mu.Unlock()
	if w == nil {
		return golden.Record{}, false, nil
	}
	return w.Get(name)
}

// finish completes the store and opens it for reading; nil when nothing was
// put into it.
func (s *outcomes) finish() (*golden.Store, error) {
	if s.writer == nil {
		return nil, nil
	}
	w := s.writer
	s.writer = nil
	if err := w.Finish(); err != nil {
		return nil, err
	}
	return golden.Open(s.path)
}

// abandon closes an unfinished store and keeps what is in it for --resume.
func (s *outcomes) abandon() error {
	if s.writer == nil {
		return nil
	}
	w := s.writer
	s.writer = nil
	return w.Abort(true)
}

// amend replaces outcomes in a finished store, whose contents it has already.
func amend(path string, records map[string]golden.Record) error {
	if len(records) == 0 {
		return nil
	}
	return golden.Update(path, func(tx *golden.Tx) error {
		for _, r := range records {
			if err := tx.Put(r, nil); err != nil {
				return err
			}
		}
		return nil
	})
}
