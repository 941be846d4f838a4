package client

import (
	"sync"

	"muster/regress/internal/exec/reapi/blob"
)

// shelf remembers which contents the engine has, and which are on their way. It keeps the
// latest: a generation that is full becomes the older one, of which only what is asked for
// lives on.
type shelf struct {
	mu            sync.Mutex
	recent, older map[blob.Digest]struct{}
	most          int // of one generation
	flights       map[blob.Digest]*flight
}

// flight is one content on its way. Whoever waits for it reads err after done.
type flight struct {
	b         blob.Blob
	done      chan struct{}
	err       error
	handed    bool // it is in a batch, which settles it; for its sender alone
	abandoned bool // its sender gave up: another may
}

func newShelf(most int) *shelf {
	return &shelf{recent: map[blob.Digest]struct{}{}, most: max(most/2, 1), flights: map[blob.Digest]*flight{}}
}

// claim parts blobs into those that the caller must settle, and those that others do. What
// is there already is in neither.
func (s *shelf) claim(blobs []blob.Blob) (mine, others []*flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range blobs {
		if b.Digest.Size == 0 || s.has(b.Digest) {
			continue // every engine has the empty content
		}
		if f := s.flights[b.Digest]; f != nil {
			others = append(others, f)
			continue
		}
		f := &flight{b: b, done: make(chan struct{})}
		s.flights[b.Digest] = f
		mine = append(mine, f)
	}
	return mine, others
}

func (s *shelf) has(d blob.Digest) bool {
	if _, ok := s.recent[d]; ok {
		return true
	}
	_, ok := s.older[d]
	if ok {
		s.put(d)
	}
	return ok
}

func (s *shelf) put(d blob.Digest) {
	if len(s.recent) >= s.most {
		s.older, s.recent = s.recent, make(map[blob.Digest]struct{}, s.most/4)
	}
	s.recent[d] = struct{}{}
}

func (s *shelf) settle(f *flight, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flights[f.b.Digest] != f {
		return // settled before
	}
	delete(s.flights, f.b.Digest)
	if f.err = err; err == nil {
		s.put(f.b.Digest)
	}
	close(f.done)
}

func (s *shelf) abandon(f *flight, err error) {
	s.mu.Lock()
	if s.flights[f.b.Digest] == f {
		f.abandoned = true
	}
	s.mu.Unlock()
	s.settle(f, err)
}

func (s *shelf) forget(ds []blob.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(ds) == 0 {
		s.recent, s.older = map[blob.Digest]struct{}{}, nil
	}
	for _, d := range ds {
		delete(s.recent, d)
		delete(s.older, d)
	}
}
