package web

import (
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
	Place  int      `json:"place"` // index of the shown case
	Filter string   `json:"filter"`
	Open   []string `json:"open"`  // families that are not folded
	Items  []string `json:"items"` // those to join
	Row    []string `json:"row"`   // what the page shows as one row, with item; empty = do not compare
}

// actionResult is the result of an action.
type actionResult struct {
	State state  `json:"state"`
	Count int    `json:"count"` // number of decisions made or undone
	Item  string `json:"item"`  // the item to show next
	Place int    `json:"place"`
}

// act decides. Package review chooses the next position: the next undecided item, or the
// earlier cursor.
func (h *house) act(w http.ResponseWriter, r *http.Request, s *seat) {
	var ask action
	if !decode(w, r, &ask) {
		return
	}
	out, known, stale := actionResult{Item: ask.Item, Place: ask.Place}, false, false
	out.State = s.change(func(d *review.Desk) {
		if stale = !aim(d, ask); stale {
			return
		}
		out.Count, known = decide(d, ask.Do, ask.Items)
		if item, _, some := d.Cursor(); some {
			_, out.Place, _ = d.Member()
			out.Item = d.Items()[item].ID
		}
	})
	switch {
	case stale:
		refuse(w, http.StatusConflict, "families have changed since this was shown: look again")
		return
	case !known:
		refuse(w, http.StatusBadRequest, "there is nothing to do by that name")
		return
	}
	answer(w, out)
}

// aim moves the desk's cursor to the page's position. It returns false if the row there stands for other
// items than the page shows.
func aim(d *review.Desk, a action) bool {
	d.Show(a.Filter, a.Open)
	item, known := d.Index(a.Item)
	for place, i := range d.Visible() {
		if known && i == item {
			d.MoveTo(place)
		}
	}
	_, at, _ := d.Member()
	d.MoveCase(a.Place - at)
	if len(a.Row) == 0 {
		return true
	}
	here, _, some := d.Cursor()
	return some && slices.EqualFunc(d.Under(here), a.Row, func(i int, id string) bool { return d.Items()[i].ID == id })
}

func decide(d *review.Desk, do string, ids []string) (count int, known bool) {
	switch do {
	case "split":
		return d.Split(), true
	case "join":
		var items []int
		for _, id := range ids {
			if item, known := d.Index(id); known {
				items = append(items, item)
			}
		}
		return d.Join(items), true
	}
	verb, isRest := strings.CutSuffix(do, "-rest")
	state, known := map[string]review.State{"accept": review.Accepted, "reject": review.Rejected, "skip": review.Skipped}[verb]
	if known && isRest {
		return d.DecideRest(state), true
	}
	if known {
		return d.DecideHere(state), true
	}
	if do == "undo" && d.Undo() {
		count = 1
	}
	return count, do == "undo"
}

// commit writes the plan of a revision. If something has changed since, it returns the new plan
// instead.
func (h *house) commit(w http.ResponseWriter, r *http.Request, s *seat) {
	var ask struct{ Revision int }
	if !decode(w, r, &ask) {
		return
	}
	if err := unlimited(w); err != nil {
		fail(w, err)
		return
	}
	if !h.writing.TryRLock() {
		refuse(w, http.StatusServiceUnavailable, "the review has ended")
		return
	}
	defer h.writing.RUnlock()
	// closing the page does not stop the commit
	ctx := h.writes
	var result review.Result
	var err error
	stale := false
	// The seat is locked until everything is written, even for minutes. A commit ends with
	// nothing pending, so a decision made meanwhile would be lost, and other pages would show
	// an outdated state. Other browsers do not wait.
	st := s.change(func(d *review.Desk) {
		if stale = s.revision != ask.Revision; stale {
			return
		}
		s.commits++
		result, err = d.Commit(ctx)
	})
	switch {
	case stale:
		refuse(w, http.StatusConflict, "decisions have changed since this was shown: look again")
		return
	case err != nil:
		fail(w, err)
		return
	}
	if len(result.Conflicts) == 0 {
		h.wrote(result)
	}
	for _, other := range h.others(s) {
		other.look(ctx)
	}
	answer(w, commitResult{
		State: st, Decided: result.Decided, Moved: result.Moved, Accepted: result.Accepted,
		Refused: result.Refused, Notes: append([]string{}, result.Notes...), Written: len(result.Conflicts) == 0,
	})
}

// commitResult is the result of a commit.
type commitResult struct {
	State    state    `json:"state"`
	Decided  int      `json:"decided"`
	Moved    int      `json:"moved"` // number of items that were joined or split
	Accepted int      `json:"accepted"`
	Refused  string   `json:"refused"`
	Notes    []string `json:"notes"`
	Written  bool     `json:"written"` // false after a conflict with decisions of others
}

// another makes a link for another browser.
func (h *house) another(w http.ResponseWriter, _ *http.Request, _ *seat) {
	answer(w, map[string]string{"link": h.link()})
}

// finish returns the seat. Unwritten decisions are lost with it, so it first asks for
// confirmation.
func (h *house) finish(w http.ResponseWriter, r *http.Request, s *seat) {
	var ask struct{ Lose bool }
	if !decode(w, r, &ask) {
		return
	}
	if n := len(s.unsaved()); n > 0 && !ask.Lose {
		refuse(w, http.StatusConflict, "there are decisions that are not written")
		return
	}
	others := len(h.others(s))
	answer(w, map[string]int{"others": others})
	h.leave(s)
}
