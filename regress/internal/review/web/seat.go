package web

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"

	"muster/internal/wording"
	"muster/regress/internal/review"
)

// A seat is one reviewer: a browser, with as many pages as it likes. All pages see the same
// decisions; where each looks is its own affair.
type seat struct {
	number      int
	cookie, key digest // of the secrets that requests bring

	// The secrets themselves, handed out once.
	secrets struct{ cookie, key string }

	mu       sync.Mutex
	desk     *review.Desk
	revision int           // of what pages show
	changed  chan struct{} // closed when the revision is another one
	notes    []string      // what grew old
	commits  int           // so far
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
	// A letter for each item: u, a, r, s; a capital where it is not written yet.
	States    string     `json:"states"`
	Undoable  int        `json:"undoable"`
	Pending   int        `json:"pending"`  // decisions to write
	Ready     int        `json:"ready"`    // cases that would be promoted
	Barred    int        `json:"barred"`   // cases that would be, if the golden could take any
	Shut      string     `json:"shut"`     // why it cannot
	Promoted  int        `json:"promoted"` // cases that were
	Notes     []string   `json:"notes"`
	Conflicts []conflict `json:"conflicts"`
}

// A conflict is a decision that would be written over somebody else's.
type conflict struct {
	ID     string       `json:"id"`
	Mine   review.State `json:"mine"`
	Theirs review.State `json:"theirs"`
}

// letter is what a state is on the wire.
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

// state describes the desk; s.mu is held.
func (s *seat) state() state {
	changes := s.desk.Changes()
	st := state{
		Revision: s.revision, Undoable: s.desk.Undoable(), Pending: len(changes.Decisions), Ready: len(changes.Promote),
		Barred: changes.Barred, Shut: s.desk.Shut(),
		Notes: append([]string{}, s.notes...), Conflicts: []conflict{},
	}
	var b strings.Builder
	for i := range s.desk.Items() {
		c := letter(s.desk.State(i))
		if s.desk.Pending(i) {
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
		if theirs, yes := s.desk.Contested(i); yes {
			st.Conflicts = append(st.Conflicts, conflict{s.desk.Items()[i].ID, s.desk.State(i), theirs})
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

// equal leaves the revision out.
func (st state) equal(other state) bool {
	return st.States == other.States && st.Undoable == other.Undoable && st.Ready == other.Ready && st.Barred == other.Barred && st.Shut == other.Shut && st.Promoted == other.Promoted &&
		slices.Equal(st.Notes, other.Notes) && slices.Equal(st.Conflicts, other.Conflicts)
}

// change does something to the desk, and tells the pages if that shows. It returns what is
// to be shown then.
func (s *seat) change(do func(*review.Desk)) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state()
	do(s.desk)
	after := s.state()
	if !after.equal(before) {
		s.revision++
		after.Revision = s.revision
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return after
}

// read looks at the desk.
func (s *seat) read(look func(*review.Desk)) state {
	s.mu.Lock()
	defer s.mu.Unlock()
	look(s.desk)
	return s.state()
}

// next returns the revision, and what is closed with the next one.
func (s *seat) next() (revision int, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, s.changed
}

// look takes note of what others wrote meanwhile. What is pending here stays so. What was
// read before a commit of this reviewer's own is old.
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

// unsaved returns the IDs of what would be lost.
func (s *seat) unsaved() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.desk.Changes().IDs()
}
