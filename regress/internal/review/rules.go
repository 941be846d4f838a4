package review

import (
	"maps"
	"slices"
)

// What decisions come to, for all who decide, is said here and nowhere else. A case goes
// into the golden once all its items are accepted: isOpen, Ready. And whoever takes all
// cases of an item has taken the item: isWhole, Take, WithPromoted.

// isOpen reports whether an item keeps its cases out of the golden.
func (r *Review) isOpen(item int) bool { return r.State(item) != Accepted }

// Ready reports whether all items of a case are accepted: it goes into the golden, unless
// it is there.
func (r *Review) Ready(c int) bool { return !slices.ContainsFunc(r.cases[c].Items, r.isOpen) }

// Promotable reports whether a case is ready and not in the golden yet: a commit would
// promote it.
func (r *Review) Promotable(c int) bool { return !r.cases[c].Promoted && r.Ready(c) }

// A Wait is a case that some of its items keep out of the golden, although others are
// accepted.
type Wait struct {
	Case int
	For  []int // items that are not accepted
}

// Waiting returns the cases that wait, in their order.
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

// isWhole reports whether no case of an item is outside.
func (it *Item) isWhole(inside func(c int) bool) bool {
	return len(it.Members) > 0 && !slices.ContainsFunc(it.Members, func(c int) bool { return !inside(c) })
}

// Take takes note that cases go into the golden whatever their items, and accepts the items
// of which that leaves none outside, also one that was rejected before. An item with a case
// outside stays as it is: that case would follow without being asked for. From then on those
// cases count as promoted.
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

// WithPromoted returns written decisions, by ID, and that an item is accepted on which
// nobody decided, and of which every case is in the golden by now.
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
