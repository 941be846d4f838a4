package decide

import (
	"context"
	"errors"
	"os"
	"sync"

	"muster/regress"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/golden"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
)

// reviewStores keeps two stores open: the golden of a run, and the outcomes that the run kept. It
// opens them when they are used, and again if the golden changed. It is safe for concurrent use.
type reviewStores struct {
	past *pastrun.Past

	mu        sync.Mutex // guards the fields below; held while a store is read
	base      *place.Golden
	now       *golden.Store
	stamp     string // of the golden when it was opened; "" if it is not a file here
	isExpired bool   // open it again, whatever its stamp is
}

func (s *reviewStores) open(ctx context.Context) (err error) {
	stamp := s.goldenStamp()
	if s.base, err = s.past.Run.OpenBase(ctx); err != nil {
		return err
	}
	if s.now, err = s.past.Run.OpenOutcomes(); err != nil {
		return errors.Join(err, s.closeStores())
	}
	s.stamp, s.isExpired = stamp, false
	return nil
}

// goldenStamp returns the stamp of the golden as it is now, "" if it is not a file here.
func (s *reviewStores) goldenStamp() string {
	path := s.past.Options.Store.Golden
	if s.past.Run.Command != regress.CheckCommand || place.IsAddress(path) {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	return filestamp.Of(info)
}

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

// use calls f with both stores. It first opens them again if the golden changed or expired.
func (s *reviewStores) use(ctx context.Context, f func(base, now *golden.Store) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base == nil || s.isExpired || s.goldenStamp() != s.stamp {
		if err := errors.Join(s.closeStores(), s.open(ctx)); err != nil {
			return err
		}
	}
	return f(s.base.Store, s.now)
}

// expire makes the next use open a golden at an address again: nothing else detects that it has changed.
func (s *reviewStores) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isExpired = s.stamp == ""
}
