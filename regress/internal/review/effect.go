package review

import (
	"maps"
	"slices"
)

// The effect of decisions is defined here only, for the terminal, the browser and accept. A
// case goes into the golden once all its items are accepted (isOpen, Ready). If all cases of an
// item were accepted by name, the item is accepted too (isWhole, Take, WithPromoted).

// isOpen reports whether an item keeps its cases out of the golden.
func (r *Review) isOpen(item int) bool { return r.State(item) != Accepted }

// Ready reports whether all items of a case are accepted. Such a case goes into the golden,
// unless it is there already.
func (r *Review) Ready(c int) bool { return !slices.ContainsFunc(r.cases[c].Items, r.isOpen) }

// Promotable reports whether a commit would promote a case: it is ready and not in the golden
// yet.
func (r *Review) Promotable(c int) bool { return !r.cases[c].Promoted && r.Ready(c) }

// A Wait is a case that is kept out of the golden by some of its items, although others are
// accepted.
type Wait struct {
	Case int
	For  []int // indexes of items that are not accepted
}

// Waiting returns the waiting cases, in order.
func (r *Review) Waiting() (waits []Wait) {
	for i := range r.cases {
		if r.cases[i].Promoted {
			continue
		}
		w := Wait{Case: i}
		for _, item := range r.cases[i].Items {
			if r.isOpen(item) {
				w.For = append(w.For, item)
			}
		}
		if len(w.For) > 0 && len(w.For) < len(r.cases[i].Items) {
			waits = append(waits, w)
		}
	}
	return waits
}

// isWhole reports whether all cases of an item are in the golden.
func (it *Item) isWhole(inside func(c int) bool) bool {
	return len(it.Members) > 0 && !slices.ContainsFunc(it.Members, func(c int) bool { return !inside(c) })
}

// Take records that cases go into the golden, whatever the state of their items. It accepts the
// items whose cases are then all in the golden, even items that were rejected. Other items stay
// as they are, because accepting them would promote further cases. The cases count as promoted
// from then on.
func (r *Review) Take(chosen func(name string) bool) {
	touched := map[int]bool{}
	for i := range r.cases {
		if c := &r.cases[i]; chosen(c.Name) {
			c.Promoted = true
			for _, item := range c.Items {
				touched[item] = true
			}
		}
	}
	for _, item := range slices.Sorted(maps.Keys(touched)) {
		if r.items[item].isWhole(func(c int) bool { return r.cases[c].Promoted }) {
			r.decide([]int{item}, Accepted)
		}
	}
}

// WithPromoted returns written decisions, by ID. It adds the acceptance of each undecided item
// whose cases are all in the golden by now.
func WithPromoted(items []Item, cases []Case, written map[string]State, promoted func(name string) bool) map[string]State {
	states := decisions(written)
	for i := range items {
		id := items[i].ID
		if states[id] == Undecided && items[i].isWhole(func(c int) bool { return promoted(cases[c].Name) }) {
			states[id] = Accepted
		}
	}
	return states
}
