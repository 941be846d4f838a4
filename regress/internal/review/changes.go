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
	// The file of decisions at that time, see Now. If it has changed since, nothing may be written.
	Base map[string]State
	// Families by ID, of the items that were joined or split. Empty for an item that is in none.
	Families map[string]string
	// Names of the cases whose items are all accepted, and that are not in the golden.
	Promote []string
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
		case r.Promotable(i) && r.shut == "":
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

// Decide returns the written decisions together with those of the changes.
func (c Changes) Decide(written map[string]State) map[string]State {
	decided := decisions(written)
	maps.Copy(decided, c.Decisions)
	return decisions(decided)
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
// are in the golden. Pending decisions stay pending.
func (r *Review) Rebase(written map[string]State, promoted func(name string) bool) {
	r.base = decisions(written)
	for i := range r.cases {
		r.cases[i].Promoted = promoted(r.cases[i].Name)
	}
}

// Shut returns the reason why no case can go into the golden, or "" if cases can.
func (r *Review) Shut() string { return r.shut }

// committed records that all pending decisions were written. Skipped items stay skipped. Nothing can
// be undone any more.
func (r *Review) committed() {
	maps.DeleteFunc(r.mine, func(_ int, s State) bool { return s != Skipped })
	r.undo, r.moved = nil, map[int]string{}
}
