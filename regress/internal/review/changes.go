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
	// Names of the cases whose items are all accepted, and that are not in the golden.
	Promote []string
	// The number of cases that stay in the golden although one of their items is no longer
	// accepted: removing a decision does not undo a promotion.
	Stay int
}

// Empty reports whether there is nothing to write.
func (c Changes) Empty() bool {
	return len(c.Decisions) == 0 && len(c.Promote) == 0
}

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
	r.undo = nil
}
