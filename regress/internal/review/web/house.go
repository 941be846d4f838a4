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

// A house holds the reviewers. Each has a seat, and a link gives a seat to one browser.
type house struct {
	options Options
	reach   reach
	origin  string
	end     context.CancelCauseFunc

	opening sync.Mutex // only one goroutine may call Open

	// Commits hold this lock for reading. A goroutine that locks it for writing knows that no
	// commit runs or begins. A commit does not end with its request, but with its writes.
	writing    sync.RWMutex
	writes     context.Context
	stopWrites context.CancelFunc

	mu      sync.Mutex
	links   []digest // links that nobody has used yet
	spent   []digest
	seats   []*seat
	given   int // number of seats so far
	streams int // number of pages that listen
	quiet   time.Time
	outcome Outcome
}

// digest is the stored form of a secret: the time of comparing digests reveals nothing.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

const (
	seatsMax   = 8  // reviewers at once
	linksMax   = 8  // links that nobody has used yet
	streamsMax = 32 // pages at once that listen for changes
)

// Reasons for the end of a review, beside its context and a failed server.
var (
	errFinished = errors.New("the review was ended in the browser")
	errIdle     = errors.New("no page was open")
)

// link returns a new link that opens the review once. The secret is in the fragment, which
// browsers do not send: no log and no other page sees it, and a program that previews links
// does not use it up.
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

// The reasons why a link opens nothing.
var (
	errSpent   = errors.New("this link was used already: a link opens the review once. The browser that used it can make another one, or start muster review --web again")
	errUnknown = errors.New("this link does not belong to the review that is open here: take the one that muster printed last")
	errFull    = fault.Inputf("too many reviewers are at work: one of them has to finish first")
)

// enter exchanges a token for a new seat.
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

// spend voids a link. A link that is refused because the house is full stays valid.
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

// others returns all seats but one.
func (h *house) others(than *seat) []*seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.seats), func(s *seat) bool { return s == than })
}

// leave returns a seat. The review ends with the last one.
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

// wrote adds the result of a commit.
func (h *house) wrote(r review.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outcome.Results = append(h.outcome.Results, r)
}

// listens registers a page that listens for changes, and reports whether there is room for it.
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

// watch reads the decisions of others, and checks that a page is open, until ctx ends.
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

// shown reports whether a page is open. The review ends if none is for a long time.
func (h *house) shown() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.streams == 0 && time.Since(h.quiet) > h.options.Idle {
		h.end(errIdle)
	}
	return h.streams > 0
}

// wind shuts the server down. Streams end with their context, answers have a short time, and a
// commit may finish within the grace. A client that hangs in a request is not waited for.
func (h *house) wind(server *http.Server) error {
	late := time.AfterFunc(grace, h.stopWrites)
	defer late.Stop()
	h.writing.Lock() // the final close
	limit, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	if server.Shutdown(limit) == nil {
		return nil
	}
	return server.Close()
}

// close returns the outcome once no handler runs any more.
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
