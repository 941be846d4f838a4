package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/review"
)

// A house is where reviewers meet: each has a seat, which a link gives away once.
type house struct {
	options Options
	reach   reach
	origin  string
	end     context.CancelCauseFunc

	opening sync.Mutex // Open is for one at a time

	// Commits hold writing for reading. Who takes it whole has no commit under way, and none
	// to come. They do not end with the requests that asked for them, but with writes.
	writing    sync.RWMutex
	writes     context.Context
	stopWrites context.CancelFunc

	mu      sync.Mutex
	links   []digest // not used yet
	spent   []digest
	seats   []*seat
	given   int // seats so far
	streams int // pages that listen
	quiet   time.Time
	outcome Outcome
}

// digest is what is kept of a secret: comparing digests tells nothing by its time.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

const (
	seatsMax   = 8  // reviewers at once
	linksMax   = 8  // links that nobody has used yet
	streamsMax = 32 // pages at once that hear of changes
)

// Why a review ended, beside its context and a server that failed.
var (
	errFinished = errors.New("the review was ended in the browser")
	errIdle     = errors.New("no page was open")
)

func newHouse(o Options, r reach, origin string, end context.CancelCauseFunc) *house {
	return &house{options: o, reach: r, origin: origin, end: end, quiet: time.Now()}
}

// link returns a new link that opens the review once. What it must not show is behind the
// mark that browsers keep to themselves: no log and no other page sees it, and a program
// that looks at links ahead does not use it up.
func (h *house) link() string {
	token := rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.links = append(h.links, digestOf(token))
	if len(h.links) > linksMax {
		h.links = h.links[1:]
	}
	return h.origin + "/#" + token
}

// The reasons for which a link opens nothing.
var (
	errSpent   = errors.New("this link was used already: a link opens the review once. The browser that used it can make another one, or start muster review --web again")
	errUnknown = errors.New("this link does not belong to the review that is open here: take the one that muster printed last")
	errFull    = fault.Inputf("as many as can review at once already do: one of them has to finish first")
)

// enter takes a token for a new seat.
func (h *house) enter(ctx context.Context, token string) (s *seat, err error) {
	h.opening.Lock()
	defer h.opening.Unlock()
	if err := h.spend(digestOf(token)); err != nil {
		return nil, err
	}
	desk, err := h.options.Open(ctx)
	if err != nil {
		return nil, err
	}
	s = newSeat(desk)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.given++
	s.number = h.given
	h.seats = append(h.seats, s)
	return s, nil
}

// spend voids a link. Nothing comes of one that is refused because the house is full.
func (h *house) spend(d digest) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.links, d)
	switch {
	case slices.Contains(h.spent, d):
		return errSpent
	case i < 0:
		return errUnknown
	case len(h.seats) >= seatsMax:
		return errFull
	}
	h.links = slices.Delete(h.links, i, i+1)
	h.spent = append(h.spent, d)
	return nil
}

// seatOf returns the seat that belongs to a cookie and a key.
func (h *house) seatOf(cookie, key string) (*seat, bool) {
	c, k := digestOf(cookie), digestOf(key)
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.seats, func(s *seat) bool { return s.cookie == c && s.key == k })
	if i < 0 {
		return nil, false
	}
	return h.seats[i], true
}

// others returns all seats but one.
func (h *house) others(than *seat) []*seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.seats), func(s *seat) bool { return s == than })
}

// leave gives a seat back. With the last one the review ends.
func (h *house) leave(s *seat) {
	unsaved := s.unsaved()
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.seats, s)
	if i < 0 {
		return
	}
	h.seats = slices.Delete(h.seats, i, i+1)
	h.outcome.Unsaved = append(h.outcome.Unsaved, unsaved...)
	if len(h.seats) == 0 {
		h.end(errFinished)
	}
}

// wrote keeps what a commit came to.
func (h *house) wrote(r review.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outcome.Results = append(h.outcome.Results, r)
}

// listens counts a page that hears of changes, and reports whether there is room for it.
func (h *house) listens(by int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams+by > streamsMax {
		return false
	}
	h.streams += by
	h.quiet = time.Now()
	return true
}

// watch looks what others wrote, and whether anybody is there, until ctx ends.
func (h *house) watch(ctx context.Context) {
	tick := time.NewTicker(h.options.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !h.shown() {
			continue
		}
		for _, s := range h.others(nil) {
			s.look(ctx)
		}
	}
}

// shown reports whether a page is open. Without one for long the review ends.
func (h *house) shown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams == 0 && time.Since(h.quiet) > h.options.Idle {
		h.end(errIdle)
	}
	return h.streams > 0
}

// wind has the server come to its end: streams end with their context, answers have a
// moment, and a commit gets to its end if that takes no longer than the grace. A client that
// hangs in the middle of a request is not waited for.
func (h *house) wind(server *http.Server) error {
	late := time.AfterFunc(grace, h.stopWrites)
	defer late.Stop()
	h.writing.Lock() // and for good
	limit, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	if server.Shutdown(limit) == nil {
		return nil
	}
	return server.Close()
}

// close says what came of it all, when no handler is at work any more.
func (h *house) close(cause, shutdown error) (Outcome, error) {
	for _, s := range h.others(nil) {
		h.outcome.Unsaved = append(h.outcome.Unsaved, s.unsaved()...)
	}
	slices.SortFunc(h.outcome.Unsaved, review.ByID)
	h.outcome.Unsaved = slices.Compact(h.outcome.Unsaved)
	h.outcome.Idle = errors.Is(cause, errIdle)
	if h.outcome.Idle || errors.Is(cause, errFinished) {
		cause = nil
	}
	if shutdown != nil {
		shutdown = fault.Environmentf("--web: %w", shutdown)
	}
	return h.outcome, errors.Join(cause, shutdown)
}
