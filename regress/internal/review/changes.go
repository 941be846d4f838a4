package review

import (
	"maps"
	"slices"
)

// Changes is what a commit would write.
type Changes struct {
	// By ID: Accepted, Rejected, or Undecided for a decision that is taken back.
	Decisions map[string]State
	// What was written of the same IDs when this reviewer last looked.
	Before map[string]State
	// Names of the cases of which all items are accepted, and that are not in the golden.
	Promote []string
	// How many cases those would be, were the golden not shut.
	Barred int
	// How many cases stay in the golden although an item of theirs is no longer accepted:
	// a decision that is taken back does not undo what was promoted.
	Stay int
}

// Empty reports that there is nothing to write.
func (c Changes) Empty() bool { return len(c.Decisions) == 0 && len(c.Promote) == 0 }

// IDs returns those of the decisions, in order.
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

// takenBack reports whether a commit would take back that an item was accepted.
func (r *Review) takenBack(item int) bool {
	return r.Pending(item) && r.base[r.items[item].ID] == Accepted
}

// A Conflict is a decision that somebody else took otherwise in the meantime.
type Conflict struct {
	ID           string
	Mine, Theirs State
}

// Merge brings changes into the decisions that are written by now. Where somebody else
// has decided on an item since this reviewer last looked, and otherwise, there is a
// conflict, and nothing may be written. What nobody changed here stays as it is there.
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

// Rebase takes note of what is written by now, and which cases are in the golden. What
// is pending stays so, and another commit writes it over what others decided: the items
// where that is otherwise are contested from now on. It returns those that were not
// before.
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

// Shut says why no case can go into the golden; empty when cases can.
func (r *Review) Shut() string { return r.shut }

// Contested reports whether what is pending of an item would be written over what
// somebody else decided since this review began, and what that is.
func (r *Review) Contested(item int) (theirs State, yes bool) {
	return r.base[r.items[item].ID], r.contested[item] && r.Pending(item)
}

// committed takes note that all pending decisions were written, together with what
// others had decided. What was skipped stays skipped; nothing can be undone any more.
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
