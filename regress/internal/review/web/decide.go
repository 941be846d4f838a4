package web

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"muster/regress/internal/review"
)

// An action is the effect of a key or button of the page. It includes the page's position,
// because each page has its own.
type action struct {
	Do     string   `json:"do"`
	Item   string   `json:"item"`
	Filter string   `json:"filter"`
	Open   []string `json:"open"` // families that are not folded
}

// actionResult is the result of an action.
type actionResult struct {
	State state  `json:"state"`
	Count int    `json:"count"` // number of decisions made or undone
	Item  string `json:"item"`  // the item to show next
}

// act decides. Package review chooses the next position: the next undecided item, or the
// earlier cursor.
func (s *server) act(v visit, ask action) (any, error) {
	if err := s.lockToDecide(v); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	aim(s.desk, ask)
	count, known := decide(s.desk, ask.Do)
	if !known {
		return nil, refusal{http.StatusBadRequest, "there is nothing to do by that name"}
	}
	s.changed()
	out := actionResult{State: s.state(v), Count: count, Item: ask.Item}
	if item, _, some := s.desk.Cursor(); some {
		out.Item = s.desk.Items()[item].ID
	}
	return out, nil
}

// aim moves the desk's cursor to the page's position.
func aim(d *review.Desk, a action) {
	d.Show(a.Filter, a.Open)
	item, known := d.Index(a.Item)
	if place := slices.Index(d.Visible(), item); known && place >= 0 {
		d.MoveTo(place)
	}
}

func decide(d *review.Desk, do string) (count int, known bool) {
	if do == "undo" {
		if d.Undo() {
			count = 1
		}
		return count, true
	}
	verb, isRest := strings.CutSuffix(do, "-rest")
	state, known := map[string]review.State{"accept": review.Accepted, "reject": review.Rejected, "skip": review.Skipped}[verb]
	switch {
	case !known:
		return 0, false
	case isRest:
		return d.DecideRest(state), true
	}
	return d.DecideHere(state), true
}

// A plan describes what a commit would write.
type plan struct {
	State     state           `json:"state"`
	Golden    string          `json:"golden"`
	Kept      int             `json:"kept"`      // number of decisions
	Decisions []plannedChoice `json:"decisions"` // the first decisions
	Promote   int             `json:"promote"`
	Names     []string        `json:"names"` // the first cases
	Shut      string          `json:"shut"`  // why no case can go into the golden
	Stay      int             `json:"stay"`
	Waits     int             `json:"waits"` // number of cases with accepted causes that wait for others
	Waiting   []waiting       `json:"waiting"`
	Untouched int             `json:"untouched"`
	Skipped   int             `json:"skipped"` // number of items
}

type plannedChoice struct {
	ID    string       `json:"id"`
	Name  string       `json:"name"`
	Now   review.State `json:"now"`
	Was   review.State `json:"was"`
	Cases int          `json:"cases"`
}

// waiting is how many cases wait for an item.
type waiting struct {
	Cases int    `json:"cases"`
	For   string `json:"for"` // its ID
}

// listMax bounds each list of a plan.
const listMax = 200

// plan shows what a commit would write. It reads the files first, because others may have decided in a
// terminal, or recorded a new golden.
func (s *server) plan(v visit, _ struct{}) (any, error) {
	if err := s.lockToDecide(v); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	d := s.desk
	if err := d.CatchUp(v.ctx); err != nil {
		return nil, err
	}
	s.revision++
	changes, waits := d.Changes(), d.Waiting()
	p := plan{
		State: s.state(v), Golden: d.Golden, Kept: len(changes.Decisions), Decisions: []plannedChoice{},
		Promote: len(changes.Promote), Names: []string{}, Shut: d.Shut(), Stay: changes.Stay,
		Waits: len(waits), Waiting: []waiting{}, Skipped: d.Counts()[review.Skipped],
	}
	for _, id := range changes.IDs()[:min(p.Kept, listMax)] {
		item, _ := d.Index(id)
		p.Decisions = append(p.Decisions, plannedChoice{id, d.Items()[item].Name, changes.Decisions[id], changes.Before[id], d.Items()[item].Cases})
	}
	for i, c := range d.Cases() {
		switch {
		case c.Promoted:
		case !d.Promotable(i):
			p.Untouched++
		case p.Shut == "" && len(p.Names) < listMax:
			p.Names = append(p.Names, c.Printed)
		}
	}
	p.Untouched -= p.Waits
	by := map[int]int{}
	for _, w := range waits {
		for _, item := range w.For {
			by[item]++
		}
	}
	for _, item := range slices.Sorted(maps.Keys(by)) {
		p.Waiting = append(p.Waiting, waiting{by[item], d.Items()[item].ID})
	}
	p.Waiting = p.Waiting[:min(len(p.Waiting), listMax)]
	return p, nil
}

// commitResult is the result of a commit.
type commitResult struct {
	State    state    `json:"state"`
	Decided  int      `json:"decided"`
	Accepted int      `json:"accepted"`
	Refused  string   `json:"refused"`
	Notes    []string `json:"notes"`
	Written  bool     `json:"written"` // false if others decided since the plan was shown
}

// commit writes the plan of a revision, and refuses if something has changed since. Closing the page
// does not stop it.
func (s *server) commit(v visit, ask struct{ Revision int }) (any, error) {
	if err := s.lockToDecide(v); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if s.revision != ask.Revision {
		return nil, refusal{http.StatusConflict, "decisions have changed since this was shown: look again"}
	}
	s.changed()
	result, err := s.desk.Commit(s.writes)
	if err != nil {
		return nil, err
	}
	if !result.Stale {
		s.results = append(s.results, result)
	}
	return commitResult{
		State: s.state(v), Decided: result.Decided, Accepted: result.Accepted,
		Refused: result.Refused, Notes: append([]string{}, result.Notes...), Written: !result.Stale,
	}, nil
}

// leave ends the review. Decisions that are not written are lost with it, so it first asks for
// confirmation.
func (s *server) leave(v visit, ask struct{ Lose bool }) (any, error) {
	if err := s.lockToDecide(v); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if !ask.Lose && len(s.desk.Changes().Decisions) > 0 {
		return nil, refusal{http.StatusConflict, "there are decisions that are not written"}
	}
	s.finish() // the server gives this answer time to arrive
	return struct{}{}, nil
}
