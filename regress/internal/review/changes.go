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
	// Families by ID, of the items that were joined or split. Empty for an item that is in none.
	Families map[string]string
	// Names of the cases whose items are all accepted, and that are not in the golden.
	Promote []string
	// The number of such cases if the golden could be written.
	Barred int
	// The number of cases that stay in the golden although one of their items is no longer
	// accepted: removing a decision does not undo a promotion.
	Stay int
}

// Empty reports whether there is nothing to write.
func (c Changes) Empty() bool {
	return len(c.Decisions) == 0 && len(c.Promote) == 0 && len(c.Families) == 0
}

// IDs returns the IDs of the decisions, in order.
func (c Changes) IDs() []string { return slices.SortedFunc(maps.Keys(c.Decisions), ByID) }

// Items returns the IDs of all items that a commit would change, in order.
func (c Changes) Items() []string {
	ids := slices.Collect(maps.Keys(c.Decisions))
	for id := range c.Families {
		if _, known := c.Decisions[id]; !known {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, ByID)
	return ids
}

// Changes returns what a commit would write now.
func (r *Review) Changes() Changes {
	c := Changes{Decisions: map[string]State{}, Before: map[string]State{}, Families: r.movedFamilies()}
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
	ID     string `json:"id"`
	Mine   State  `json:"mine"`
	Theirs State  `json:"theirs"`
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

// MergeFamilies adds the families of changes to those that are written now, by signature.
func MergeFamilies(items []Item, c Changes, written map[string]string) map[string]string {
	merged := maps.Clone(written)
	if merged == nil {
		merged = map[string]string{}
	}
	for i := range items {
		if family, moved := c.Families[items[i].ID]; moved {
			merged[items[i].Signature] = family
		}
	}
	return merged
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
	r.undo, r.moved = nil, map[int]string{}
	clear(r.contested)
	r.Rebase(merged, promoted)
}
