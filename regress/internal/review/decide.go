package review

import "slices"

// A step is one decision that can be undone. It may concern many items.
type step struct {
	before []pending // in the order of the items
	item   int       // index of the item under the cursor, or -1
	member int
}

// step returns a step from the present state, without decisions.
func (r *Review) step() step {
	at, _, some := r.Cursor()
	if !some {
		at = -1
	}
	return step{item: at, member: r.member}
}

// pending is the earlier pending state of an item.
type pending struct {
	item    int
	state   State
	decided bool
}

// DecideHere decides on the item under the cursor, on all of its family if that is folded, and moves to the
// next undecided one. Skipped removes an earlier decision. DecideHere returns the number of items.
func (r *Review) DecideHere(s State) int {
	item, _, some := r.Cursor()
	if !some {
		return 0
	}
	n := r.decide(r.Under(item), s)
	r.advance()
	return n
}

// DecideRest decides on all visible items that are undecided, and returns their number. It accepts no
// bucket: a reviewer must look at that first.
func (r *Review) DecideRest(s State) int {
	var rest []int
	for _, row := range r.visible {
		for _, item := range r.Under(row) {
			if r.State(item) == Undecided && (s != Accepted || r.items[item].Folded == 0) {
				rest = append(rest, item)
			}
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
	if place := slices.IndexFunc(r.visible, func(i int) bool { return slices.Contains(r.Under(i), last.item) }); place >= 0 {
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
	taken := r.step()
	for _, item := range items {
		before, decided := r.mine[item]
		taken.before = append(taken.before, pending{item, before, decided})
		r.mine[item] = s
	}
	r.undo = append(r.undo, taken)
	return len(items)
}

// Standing returns the state of a visible item, and of all that it stands for. It is Undecided if
// they differ.
func (r *Review) Standing(item int) State {
	s := r.State(item)
	for _, i := range r.Under(item) {
		if r.State(i) != s {
			return Undecided
		}
	}
	return s
}

// isUndecided reports whether a visible item stands for one that is undecided.
func (r *Review) isUndecided(item int) bool {
	return slices.ContainsFunc(r.Under(item), func(i int) bool { return r.State(i) == Undecided })
}

// advance moves to the next visible undecided item, and from the end to the first. It does not
// move if there is none.
func (r *Review) advance() {
	for i := 1; i < len(r.visible); i++ {
		place := (r.cursor + i) % len(r.visible)
		if r.isUndecided(r.visible[place]) {
			r.MoveTo(place)
			return
		}
	}
}
