package review

import (
	"regexp"
	"slices"
	"strings"
)

// A step is one decision that can be undone. It may concern many items.
type step struct {
	before []pending // in the order of the items
	item   int       // index of the item under the cursor
	member int
}

// pending is the earlier pending state of an item.
type pending struct {
	item    int
	state   State
	decided bool
}

// DecideHere decides on the item under the cursor, and moves to the next undecided one. Skipped
// removes an earlier decision. DecideHere reports whether there was an item.
func (r *Review) DecideHere(s State) bool {
	item, _, some := r.Cursor()
	if some {
		r.decide([]int{item}, s)
		r.advance()
	}
	return some
}

// DecideRest decides on all visible items that are undecided, and returns their number. It accepts no
// bucket: who accepts one has looked at it.
func (r *Review) DecideRest(s State) int {
	var rest []int
	for _, item := range r.visible {
		if r.State(item) == Undecided && (s != Accepted || r.items[item].Folded == 0) {
			rest = append(rest, item)
		}
	}
	return r.decide(rest, s)
}

// Decide decides on the item with that ID, regardless of cursor and filter. It reports whether
// the item exists.
func (r *Review) Decide(id string, s State) bool {
	item, known := r.ids[id]
	if known {
		r.decide([]int{item}, s)
	}
	return known
}

// Undo undoes the latest step, and moves the cursor back to where it was. It reports whether
// there was a step.
func (r *Review) Undo() bool {
	n := len(r.undo)
	if n == 0 {
		return false
	}
	last := r.undo[n-1]
	r.undo = r.undo[:n-1]
	for _, p := range last.before {
		if p.decided {
			r.mine[p.item] = p.state
		} else {
			delete(r.mine, p.item)
		}
	}
	if place := slices.Index(r.visible, last.item); place >= 0 {
		r.cursor, r.member = place, last.member
	}
	return true
}

// Undoable returns the number of steps that Undo can undo.
func (r *Review) Undoable() int { return len(r.undo) }

func (r *Review) decide(items []int, s State) int {
	if len(items) == 0 {
		return 0
	}
	at, _, some := r.Cursor()
	if !some {
		at = -1
	}
	taken := step{item: at, member: r.member}
	for _, item := range items {
		before, decided := r.mine[item]
		taken.before = append(taken.before, pending{item, before, decided})
		r.mine[item] = s
		delete(r.contested, item)
	}
	r.undo = append(r.undo, taken)
	return len(items)
}

// advance moves to the next visible undecided item, and from the end to the first. It does not
// move if there is none.
func (r *Review) advance() {
	for i := 1; i < len(r.visible); i++ {
		place := (r.cursor + i) % len(r.visible)
		if r.State(r.visible[place]) == Undecided {
			r.MoveTo(place)
			return
		}
	}
}

// matcher returns the predicate of a filter. The filter matches as literal text, and also as a
// regular expression if it is one: "a+b" finds a+b too.
func matcher(text string) func(string) bool {
	if text == "" {
		return func(string) bool { return true }
	}
	lower := strings.ToLower(text)
	if regexp.QuoteMeta(text) == text {
		return func(s string) bool { return strings.Contains(strings.ToLower(s), lower) }
	}
	pattern, err := regexp.Compile("(?i)" + text)
	return func(s string) bool {
		return strings.Contains(strings.ToLower(s), lower) || err == nil && pattern.MatchString(s)
	}
}
