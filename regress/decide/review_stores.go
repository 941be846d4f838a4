package decide

import (
	"context"
	"errors"
	"sync"

	"muster/regress/internal/golden"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
)

// reviewStores keeps two stores open between uses: the golden of a run, and the outcomes that the run kept. It is
// safe for concurrent use.
type reviewStores struct {
	past *pastrun.Past

	mu   sync.Mutex // guards the fields below; held while a store is read
	base *place.Golden
	now  *golden.Store
}

// close closes both stores. The next use opens them as they are then.
func (s *reviewStores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeStores()
}

func (s *reviewStores) closeStores() (err error) {
	if s.base != nil {
		err = s.base.Close()
	}
	if s.now != nil {
		err = errors.Join(err, s.now.Close())
	}
	s.base, s.now = nil, nil
	return err
}

// use calls f with both stores. If f fails, the golden may have changed, and the next use opens it again.
func (s *reviewStores) use(ctx context.Context, f func(base, now *golden.Store) error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeStores())
		}
	}()
	if s.base == nil {
		base, err := s.past.Run.OpenBase(ctx)
		if err != nil {
			return err
		}
		s.base = base
		if s.now, err = s.past.Run.OpenOutcomes(); err != nil {
			return err
		}
	}
	return f(s.base.Store, s.now)
}
