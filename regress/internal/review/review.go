// Package review is the review of a run as data: what there is to decide, what was
// decided and what that comes to, and how a difference is laid out in lines. Nothing is written by deciding:
// Changes says what a commit would write, and until then all of it can be undone.
//
// It is pure: no screen, disk or clock. It must not know who looks: a terminal and a
// browser show the same lines.
package review

import (
	"slices"
	"strings"
)

// State is where an item stands.
type State string

// The states, a closed set.
const (
	Undecided State = ""
	Accepted  State = "accepted"
	Rejected  State = "rejected"
	Skipped   State = "skipped" // left for later: nothing of it is written
)

// An Item is one decision to take: a cause, or the cases of one kind that have none.
type Item struct {
	ID string // G1 …, or NewID and the like
	// The same in every run that shows the cause; empty for the others.
	Signature string
	Name      string // printable
	Kind      string // of a cause; empty for the others
	Family    string // printable; empty for none
	Cases     int
	Lines     int // changed lines, of all its cases together; 0 where nothing was compared
	Sole      int // cases that are in no other item
	Example   string
	Smallest  string
	Members   []int // indexes of its cases, in the order to look at them: the example first
}

// The items that are no causes.
const (
	NewID     = "new"     // cases that the golden does not have
	MissingID = "missing" // cases that the corpus no longer has
	FlakyID   = "flaky"   // cases that differ from run to run
	StoppedID = "stopped" // new or flaky cases that a signal or a limit ended
	ChangedID = "changed" // cases that differ, in a run that kept no causes
)

// A Case is one case that was not identical.
type Case struct {
	Name     string // its bytes
	Printed  string
	Verdict  string
	Items    []int // one at least
	Promoted bool  // it is in the golden already
}

// A Review is what one reviewer has decided, and where they look. One goroutine uses it.
type Review struct {
	items []Item
	cases []Case
	ids   map[string]int

	base map[string]State // what is written, by ID: Accepted or Rejected
	mine map[int]State    // what was decided here, by item
	undo []step
	// Items that others have decided on while another decision was pending here.
	contested map[int]bool
	shut      string // why no case can go into the golden

	filter  string
	visible []int // items that pass the filter, ascending
	cursor  int   // into visible
	member  int   // the case that is looked at, an index into the item's Members
}

// New returns a review of items, which several reviews may share, and their cases, of
// which it takes a copy. It begins at the first that is undecided. written has the decisions that there
// are, by ID; IDs that no item has are left alone.
func New(items []Item, cases []Case, written map[string]State) *Review {
	r := &Review{items: items, cases: slices.Clone(cases), ids: map[string]int{}, mine: map[int]State{}, contested: map[int]bool{}}
	for i := range items {
		r.ids[items[i].ID] = i
	}
	r.base = decisions(written)
	r.Filter("")
	for place, item := range r.visible {
		if r.State(item) == Undecided {
			r.cursor = place
			break
		}
	}
	return r
}

// decisions copies those of states that are decisions.
func decisions(states map[string]State) map[string]State {
	kept := map[string]State{}
	for id, s := range states {
		if s == Accepted || s == Rejected {
			kept[id] = s
		}
	}
	return kept
}

// Items returns all items, whatever the filter. The slice is not to be changed.
func (r *Review) Items() []Item { return r.items }

// Cases returns all cases. The slice is not to be changed.
func (r *Review) Cases() []Case { return r.cases }

// Index returns the index of the item with that ID.
func (r *Review) Index(id string) (index int, known bool) {
	index, known = r.ids[id]
	return index, known
}

// State returns where an item stands, what is pending included.
func (r *Review) State(item int) State {
	if s, decided := r.mine[item]; decided {
		return s
	}
	return r.base[r.items[item].ID]
}

// Pending reports whether a commit would change the decision on an item.
func (r *Review) Pending(item int) bool {
	s, decided := r.mine[item]
	return decided && written(s) != r.base[r.items[item].ID]
}

// written returns what of a state is kept on disk.
func written(s State) State {
	if s == Skipped {
		return Undecided
	}
	return s
}

// Counts returns how many items are in each state.
func (r *Review) Counts() map[State]int {
	counts := map[State]int{}
	for i := range r.items {
		counts[r.State(i)]++
	}
	return counts
}

// Visible returns the indexes of the items that pass the filter, in their order. The
// slice is not to be changed.
func (r *Review) Visible() []int { return r.visible }

// Cursor returns the index of the item that is looked at, and its place in Visible;
// there is none when the filter lets none pass.
func (r *Review) Cursor() (item, place int, some bool) {
	if r.cursor >= len(r.visible) {
		return 0, 0, false
	}
	return r.visible[r.cursor], r.cursor, true
}

// Member returns which case of the item is looked at: its index, and its place in the
// item's Members.
func (r *Review) Member() (c, place int, some bool) {
	item, _, some := r.Cursor()
	if !some || r.member >= len(r.items[item].Members) {
		return 0, 0, false
	}
	return r.items[item].Members[r.member], r.member, true
}

// Move moves the cursor by so many visible items, and stops at the ends.
func (r *Review) Move(by int) { r.MoveTo(r.cursor + by) }

// MoveTo moves the cursor to a place in Visible, or to the end that is nearest.
func (r *Review) MoveTo(place int) {
	place = max(0, min(place, len(r.visible)-1))
	if place != r.cursor {
		r.cursor, r.member = place, 0
	}
}

// MoveCase goes to another case of the item, round the ends.
func (r *Review) MoveCase(by int) {
	item, _, some := r.Cursor()
	if !some {
		return
	}
	if n := len(r.items[item].Members); n > 0 {
		r.member = ((r.member+by)%n + n) % n
	}
}

// Filter shows only the items of which the ID, name, kind, family or the printed name of
// a case has the text in it, or matches it as a regular expression, in any case of
// letters. An empty one shows all. Decisions stay as they are.
func (r *Review) Filter(text string) {
	at := -1
	if item, _, some := r.Cursor(); some {
		at = item
	}
	r.filter = text
	match := matcher(text)
	passing := make([]bool, len(r.cases)) // each is in many items, and looked at once
	for i := range r.cases {
		passing[i] = match(r.cases[i].Printed)
	}
	r.visible = nil
	for i := range r.items {
		if r.matches(i, match, passing) {
			r.visible = append(r.visible, i)
		}
	}
	place := slices.Index(r.visible, at)
	if place < 0 {
		r.cursor, r.member = 0, 0
		return
	}
	r.cursor = place
}

// Filtered returns the text that Filter was given last.
func (r *Review) Filtered() string { return r.filter }

func (r *Review) matches(item int, match func(string) bool, passing []bool) bool {
	it := &r.items[item]
	if slices.ContainsFunc(it.Members, func(c int) bool { return passing[c] }) {
		return true
	}
	return match(it.ID) || match(it.Name) || match(it.Kind) || match(it.Family)
}

// ByID orders IDs as people expect: G2 before G10.
func ByID(a, b string) int {
	if len(a) != len(b) && strings.HasPrefix(a, "G") && strings.HasPrefix(b, "G") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
