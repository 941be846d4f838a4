package review

import (
	"maps"
	"slices"
)

// Changes is what a commit would write.
type Changes struct {
	// Accepted or Rejected by ID, or Undecided to remove a decision.
	Decisions map[string]State
	// The written decisions on these IDs when this reviewer last read them.
	Before map[string]State
	// Names of the cases whose items are all accepted, and that are not in the golden.
	Promote []string
	// The number of such cases if the golden could be written.
	Barred int
	// The number of cases that stay in the golden although one of their items is no longer
	// accepted: removing a decision does not undo a promotion.
	Stay int
}

// Empty reports whether there is nothing to write.
func (c Changes) Empty() bool { return len(c.Decisions) == 0 && len(c.Promote) == 0 }

// IDs returns the IDs of the decisions, in order.
func (c Changes) IDs() []string { return slices.SortedFunc(maps.Keys(c.Decisions), ByID) }

// Changes returns what a commit would write now.
func (r *Review) Changes() Changes {
	c := Changes{Decisions: map[string]State{}, Before: map[string]State{}}
	for item := range r.mine {
		if r.Pending(item) {
			id := r.items[item].ID
			c.Decisions[id] = written(r.mine[item])
			c.Before[id] = r.base[id]
		}
	}
	for i := range r.cases {
		switch {
		case r.Promotable(i) && r.shut != "":
			c.Barred++
		case r.Promotable(i):
			c.Promote = append(c.Promote, r.cases[i].Name)
		case r.cases[i].Promoted && slices.ContainsFunc(r.cases[i].Items, r.takenBack):
			c.Stay++
		}
	}
	return c
}

// takenBack reports whether a commit would remove the acceptance of an item.
func (r *Review) takenBack(item int) bool {
	return r.Pending(item) && r.base[r.items[item].ID] == Accepted
}

// A Conflict is a decision that another reviewer made differently in the meantime.
type Conflict struct {
	ID           string
	Mine, Theirs State
}

// Merge adds changes to the decisions that are written now. If another reviewer has since
// decided differently on an item, Merge returns a conflict, and nothing may be written. It
// keeps decisions that this reviewer did not change.
func Merge(c Changes, theirs map[string]State) (merged map[string]State, conflicts []Conflict) {
	merged = decisions(theirs)
	for _, id := range c.IDs() {
		mine, was, is := c.Decisions[id], c.Before[id], merged[id]
		if is != was && is != mine {
			conflicts = append(conflicts, Conflict{id, mine, is})
		}
		if mine == Undecided {
			delete(merged, id)
		} else {
			merged[id] = mine
		}
	}
	return merged, conflicts
}

// Rebase updates the review with the decisions that are written now, and with the cases that
// are in the golden. Pending decisions stay pending. Those that contradict a written decision
// become contested: a later commit overwrites the other decision. Rebase returns the items that
// were not contested before.
func (r *Review) Rebase(theirs map[string]State, promoted func(name string) bool) (fresh []Conflict) {
	now := decisions(theirs)
	for item := range r.items {
		id := r.items[item].ID
		switch {
		case now[id] == r.base[id]:
		case r.Pending(item) && written(r.mine[item]) != now[id]:
			r.contested[item] = true
			fresh = append(fresh, Conflict{id, written(r.mine[item]), now[id]})
		default:
			delete(r.contested, item)
		}
	}
	r.base = now
	for i := range r.cases {
		r.cases[i].Promoted = promoted(r.cases[i].Name)
	}
	return fresh
}

// Shut returns the reason why no case can go into the golden, or "" if cases can.
func (r *Review) Shut() string { return r.shut }

// Contested reports whether the pending decision on an item would overwrite a decision that
// another reviewer made since this review began, and returns that decision.
func (r *Review) Contested(item int) (theirs State, yes bool) {
	return r.base[r.items[item].ID], r.contested[item] && r.Pending(item)
}

// committed records that all pending decisions were written, together with those of others.
// Skipped items stay skipped. Nothing can be undone any more.
func (r *Review) committed(merged map[string]State, promoted func(name string) bool) {
	for item, s := range r.mine {
		if s != Skipped {
			delete(r.mine, item)
		}
	}
	r.undo = nil
	clear(r.contested)
	r.Rebase(merged, promoted)
}
