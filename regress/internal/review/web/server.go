package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/regress/internal/review"
)

// A server serves one review. All pages show its one desk, and the holder alone decides.
type server struct {
	origin string
	key    string          // the secret that each request carries
	writes context.Context // of commits: they do not end with their requests
	finish func()          // ends the review

	// mu is locked during a commit, even for minutes. A decision or a take over waits for its end.
	mu       sync.Mutex
	desk     *review.Desk
	token    string // of the link that nobody has used; "" = none
	holder   holder
	revision int // rises with each change of the desk
	results  []review.Result
	isClosed bool
}

// A holder is the page that decides.
type holder struct {
	page    string    // its ID; "" = none so far
	browser string    // "Firefox on Linux"
	since   time.Time // when it opened the review, or took it over
	last    time.Time // when it last decided or wrote
}

// newLink returns a link that opens the review once, and voids an earlier one that nobody has used.
// The secret is in the fragment, which browsers do not send: no log and no other page sees it, and a
// program that previews links does not use it up.
func (s *server) newLink() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = rand.Text()
	return s.origin + "/#" + s.token
}

// spend reports whether a token opens the review, and voids it.
func (s *server) spend(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token == "" || !isSecret(token, s.token) {
		return false
	}
	s.token = ""
	return true
}

// isSecret compares in a time that reveals nothing.
func isSecret(got, want string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(want)) == 1
}

// close waits for a commit in progress, ends the use of the desk, and returns what was written.
func (s *server) close() []review.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isClosed = true
	return s.results
}

// lock locks the desk for a page that reads. The page must unlock mu unless there is an error.
func (s *server) lock() error {
	s.mu.Lock()
	if s.isClosed {
		s.mu.Unlock()
		return refusal{http.StatusServiceUnavailable, "the review has ended"}
	}
	return nil
}

// lockToDecide is like lock, for the holder alone.
func (s *server) lockToDecide(v visit) error {
	if err := s.lock(); err != nil {
		return err
	}
	h := s.holder
	if v.page != "" && v.page == h.page {
		return nil
	}
	s.mu.Unlock()
	if h.page == "" {
		return refusal{http.StatusLocked, "no page decides yet: take the review over first"}
	}
	return refusal{http.StatusLocked, "nothing was done: " + h.browser + " took this review over at " + h.since.Format("15:04") + ", so this page only reads"}
}

// take makes a page the holder if there is none, or if it takes over.
func (s *server) take(v visit, ask struct{ Over bool }) (any, error) {
	if v.page == "" {
		return nil, refusal{http.StatusBadRequest, "the page has no ID"}
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if s.holder.page == "" || ask.Over && s.holder.page != v.page {
		s.holder = holder{page: v.page, browser: v.browser, since: time.Now()}
	}
	return s.state(v), nil
}

// changed records that the holder changed the desk. The caller holds mu.
func (s *server) changed() {
	s.revision++
	s.holder.last = time.Now()
}

// link makes a link for another browser.
func (s *server) link(visit, struct{}) (any, error) {
	return map[string]string{"link": s.newLink()}, nil
}

// A state is what a page shows beside the items themselves.
type state struct {
	Revision int `json:"revision"`
	// A letter for each item: u, a, r or s; upper case while the decision is not written.
	States   string      `json:"states"`
	Undoable int         `json:"undoable"`
	Pending  int         `json:"pending"`  // number of decisions to write
	Ready    int         `json:"ready"`    // number of cases that would be promoted
	Shut     string      `json:"shut"`     // why no case can go into the golden
	Promoted int         `json:"promoted"` // number of cases that were promoted
	Notes    []string    `json:"notes"`
	Holder   shownHolder `json:"holder"`
}

// A shownHolder describes the page that decides. Times are in milliseconds since 1970; 0 = never.
type shownHolder struct {
	Mine    bool   `json:"mine"` // it is the asking page
	Browser string `json:"browser"`
	Since   int64  `json:"since"`
	Last    int64  `json:"last"`
}

var letters = map[review.State]string{review.Undecided: "u", review.Accepted: "a", review.Rejected: "r", review.Skipped: "s"}

// state describes the desk for a page. The caller holds mu.
func (s *server) state(v visit) state {
	d, changes := s.desk, s.desk.Changes()
	st := state{
		Revision: s.revision, Undoable: d.Undoable(), Pending: len(changes.Decisions),
		Ready: len(changes.Promote), Shut: d.Shut(), Notes: append([]string{}, d.Notes...),
		Holder: shownHolder{Mine: v.page == s.holder.page, Browser: s.holder.browser, Since: s.holder.since.UnixMilli()},
	}
	if !s.holder.last.IsZero() {
		st.Holder.Last = s.holder.last.UnixMilli()
	}
	var b strings.Builder
	for i := range d.Items() {
		letter := letters[d.State(i)]
		if d.Pending(i) {
			letter = strings.ToUpper(letter)
		}
		b.WriteString(letter)
	}
	st.States = b.String()
	for _, c := range d.Cases() {
		if c.Promoted {
			st.Promoted++
		}
	}
	return st
}

func (s *server) now(v visit, _ struct{}) (any, error) {
	if err := s.lock(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.state(v), nil
}
