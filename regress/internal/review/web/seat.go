package web

import (
	"context"
	"crypto/rand"
	"reflect"
	"strings"
	"sync"

	"muster/internal/wording"
	"muster/regress/internal/review"
)

// A seat is one reviewer: a browser with any number of pages. All pages share the decisions.
// Each has its own position.
type seat struct {
	number      int
	cookie, key digest // digests of the secrets that requests carry

	// The secrets themselves, sent to the browser once.
	secrets struct{ cookie, key string }

	mu       sync.Mutex
	desk     *review.Desk
	revision int           // revision of the shown state
	changed  chan struct{} // closed when the revision changes
	notes    []string      // notes on outdated facts
	commits  int           // written so far
}

func newSeat(desk *review.Desk) *seat {
	s := &seat{desk: desk, revision: 1, changed: make(chan struct{}), notes: desk.Notes}
	s.secrets.cookie, s.secrets.key = rand.Text(), rand.Text()
	s.cookie, s.key = digestOf(s.secrets.cookie), digestOf(s.secrets.key)
	return s
}

// state is what a page shows beside the items themselves.
type state struct {
	Revision int `json:"revision"`
	// A letter for each item: u, a, r or s; upper case while the decision is not written.
	States    string            `json:"states"`
	Undoable  int               `json:"undoable"`
	Pending   int               `json:"pending"`   // number of decisions to write
	Moved     int               `json:"moved"`     // number of items to join or split
	Regrouped int               `json:"regrouped"` // rises when families change
	Ready     int               `json:"ready"`     // number of cases that would be promoted
	Barred    int               `json:"barred"`    // number of such cases if the golden could be written
	Shut      string            `json:"shut"`      // why the golden cannot be written
	Promoted  int               `json:"promoted"`  // number of cases that were promoted
	Notes     []string          `json:"notes"`
	Conflicts []review.Conflict `json:"conflicts"`
}

func letter(s review.State) byte {
	switch s {
	case review.Accepted:
		return 'a'
	case review.Rejected:
		return 'r'
	case review.Skipped:
		return 's'
	}
	return 'u'
}

// state describes the desk. The caller holds s.mu.
func (s *seat) state() state {
	changes := s.desk.Changes()
	st := state{
		Revision: s.revision, Undoable: s.desk.Undoable(), Pending: len(changes.Decisions), Moved: len(changes.Families), Regrouped: s.desk.Regrouped(), Ready: len(changes.Promote),
		Barred: changes.Barred, Shut: s.desk.Shut(),
		Notes: append([]string{}, s.notes...), Conflicts: []review.Conflict{},
	}
	var b strings.Builder
	for i := range s.desk.Items() {
		c := letter(s.desk.State(i))
		if s.desk.Pending(i) {
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
		if theirs, yes := s.desk.Contested(i); yes {
			st.Conflicts = append(st.Conflicts, review.Conflict{ID: s.desk.Items()[i].ID, Mine: s.desk.State(i), Theirs: theirs})
		}
	}
	st.States = b.String()
	for _, c := range s.desk.Cases() {
		if c.Promoted {
			st.Promoted++
		}
	}
	return st
}

// change changes the desk, and notifies the pages if the state differs. It returns the new
// state.
func (s *seat) change(do func(*review.Desk)) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state()
	do(s.desk)
	after := s.state()
	if !reflect.DeepEqual(after, before) {
		s.revision++
		after.Revision = s.revision
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return after
}

// read calls f with the locked desk.
func (s *seat) read(look func(*review.Desk)) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.desk)
	return s.state()
}

// next returns the revision, and the channel that is closed with the next one.
func (s *seat) next() (revision int, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, s.changed
}

// look updates the desk with the decisions of others. Pending decisions stay pending. It
// ignores a state that was read before a commit of this reviewer.
func (s *seat) look(ctx context.Context) {
	s.mu.Lock()
	commits := s.commits
	s.mu.Unlock()
	now, err := s.desk.Look(ctx)
	if ctx.Err() != nil {
		return
	}
	s.change(func(d *review.Desk) {
		switch {
		case s.commits != commits:
		case err != nil:
			s.notes = []string{wording.Of(err)}
		default:
			s.notes = now.Notes
			d.CatchUp(now)
		}
	})
}

// unsaved returns the IDs of the decisions that would be lost.
func (s *seat) unsaved() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.desk.Changes().Items()
}
