// Package review models the review of a run as data: the items to decide on, the decisions,
// their effect, and the layout of a difference in lines. A decision writes nothing. Changes returns
// what a commit would write; until the commit every decision can be undone.
//
// It is pure: no screen, disk or clock. It must not know its views: a terminal and a browser
// show the same lines.
package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"muster/regress/internal/cause"
)

// State is the state of an item.
type State string

// The closed set of states.
const (
	Undecided State = ""
	Accepted  State = "accepted"
	Rejected  State = "rejected"
	Skipped   State = "skipped" // left for later; not written
)

// An Item is one thing to decide on: a cause, or all cases of one kind that have no cause.
type Item struct {
	ID string // G1 …, or NewID and the others below
	// The same in every run with this cause; empty for items that are no cause.
	Signature string
	Name      string // printable name
	Kind      string // kind of the cause, or empty
	Family    string // printable name of its family, or empty
	Folded    int    // of a bucket: how many causes it stands for
	Cases     int
	Lines     int // changed lines of all its cases; 0 if nothing was compared
	Sole      int // number of cases that are in no other item
	Example   string
	Smallest  string
	Members   []int // indexes of its cases, in reading order: the example first
}

// The items that are not causes.
const (
	NewID     = "new"     // cases that the golden lacks
	MissingID = "missing" // cases that the corpus lacks
	FlakyID   = "flaky"   // cases that differ from run to run
	StoppedID = "stopped" // new or flaky cases that a signal or a limit ended
	ChangedID = "changed" // differing cases of a run that kept no causes
)

// A Case is one case that was not identical.
type Case struct {
	Name     string // the name's raw bytes
	Printed  string
	Verdict  string
	Items    []int // indexes of its items, at least one
	Promoted bool  // the new outcome is in the golden already
}

// A Review holds one reviewer's decisions and position. One goroutine uses it.
type Review struct {
	items []Item
	cases []Case
	ids   map[string]int

	base map[string]State // written decisions by ID: Accepted or Rejected
	mine map[int]State    // pending decisions, by item
	undo []step
	// Items that others decided on while a decision was pending here.
	contested map[int]bool
	shut      string // why no case can go into the golden

	filter  string
	visible []int // items that pass the filter, ascending
	cursor  int   // index into visible
	member  int   // index into the item's Members of the case that is shown
}

// New returns a review of items and their cases. Several reviews may share the items; New
// copies the cases. The cursor is at the first undecided item. written has the existing
// decisions, by ID; New ignores IDs without an item.
func New(items []Item, cases []Case, written map[string]State) *Review {
	r := &Review{items: items, cases: slices.Clone(cases), ids: map[string]int{}, mine: map[int]State{}, contested: map[int]bool{}}
	for i := range items {
		r.ids[items[i].ID] = i
	}
	r.base = decisions(written)
	r.Filter("")
	r.cursor = max(0, slices.IndexFunc(r.visible, func(item int) bool { return r.State(item) == Undecided }))
	return r
}

// decisions copies the states that are decisions.
func decisions(states map[string]State) map[string]State {
	kept := map[string]State{}
	for id, s := range states {
		if s == Accepted || s == Rejected {
			kept[id] = s
		}
	}
	return kept
}

// Items returns all items, regardless of the filter. Do not change the slice.
func (r *Review) Items() []Item { return r.items }

// Cases returns all cases. Do not change the slice.
func (r *Review) Cases() []Case { return r.cases }

// Index returns the index of the item with that ID.
func (r *Review) Index(id string) (index int, known bool) {
	index, known = r.ids[id]
	return index, known
}

// State returns the state of an item, including a pending decision.
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

// written returns the state that is kept on disk.
func written(s State) State {
	if s == Skipped {
		return Undecided
	}
	return s
}

// Counts returns the number of items in each state.
func (r *Review) Counts() map[State]int {
	counts := map[State]int{}
	for i := range r.items {
		counts[r.State(i)]++
	}
	return counts
}

// Visible returns the indexes of the items that pass the filter, in order. Do not change the
// slice.
func (r *Review) Visible() []int { return r.visible }

// Cursor returns the index of the item under the cursor, and its place in Visible. It returns
// false if no item passes the filter.
func (r *Review) Cursor() (item, place int, some bool) {
	if r.cursor >= len(r.visible) {
		return 0, 0, false
	}
	return r.visible[r.cursor], r.cursor, true
}

// Member returns the index of the case that is shown, and its place in the item's Members.
func (r *Review) Member() (c, place int, some bool) {
	item, _, some := r.Cursor()
	if !some || r.member >= len(r.items[item].Members) {
		return 0, 0, false
	}
	return r.items[item].Members[r.member], r.member, true
}

// Move moves the cursor by a number of visible items, and stops at the ends.
func (r *Review) Move(by int) { r.MoveTo(r.cursor + by) }

// MoveTo moves the cursor to a place in Visible, or to the nearest end.
func (r *Review) MoveTo(place int) {
	place = max(0, min(place, len(r.visible)-1))
	if place != r.cursor {
		r.cursor, r.member = place, 0
	}
}

// MoveCase moves to another case of the item, and wraps at the ends.
func (r *Review) MoveCase(by int) {
	item, _, some := r.Cursor()
	if !some {
		return
	}
	if n := len(r.items[item].Members); n > 0 {
		r.member = ((r.member+by)%n + n) % n
	}
}

// FamilyFilter begins a filter that shows one family alone.
const FamilyFilter = "family: "

// FilterFamily shows only the family of the item under the cursor, or all items if only that is
// shown. It reports whether the item has a family.
func (r *Review) FilterFamily() bool {
	item, _, some := r.Cursor()
	if !some || r.items[item].Family == "" {
		return false
	}
	text := FamilyFilter + r.items[item].Family
	if r.filter == text {
		text = ""
	}
	r.Filter(text)
	return true
}

// Filter hides items that do not match a text. The ID, name, kind, family, or the printed name
// of a case must contain the text or match it as a regular expression, regardless of letter
// case. An empty text shows all items. Decisions stay as they are.
func (r *Review) Filter(text string) {
	at := -1
	if item, _, some := r.Cursor(); some {
		at = item
	}
	r.filter = text
	match := matcher(text)
	passing := make([]bool, len(r.cases)) // a case may be in many items, but is matched once
	for i := range r.cases {
		passing[i] = match(r.cases[i].Printed)
	}
	r.visible = nil
	for i := range r.items {
		if r.matches(i, match, passing) {
			r.visible = append(r.visible, i)
		}
	}
	if r.cursor = slices.Index(r.visible, at); r.cursor < 0 {
		r.cursor, r.member = 0, 0
	}
}

// Filtered returns the latest text of Filter.
func (r *Review) Filtered() string { return r.filter }

func (r *Review) matches(item int, match func(string) bool, passing []bool) bool {
	it := &r.items[item]
	if family, one := strings.CutPrefix(r.filter, FamilyFilter); one {
		return it.Family == family
	}
	if slices.ContainsFunc(it.Members, func(c int) bool { return passing[c] }) {
		return true
	}
	return match(it.ID) || match(it.Name) || match(it.Kind) || match(it.Family)
}

// ByID orders IDs by number: G2 before G10.
func ByID(a, b string) int {
	if len(a) != len(b) && strings.HasPrefix(a, "G") && strings.HasPrefix(b, "G") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// EncodeDecisions encodes decisions, by ID, for a file.
func EncodeDecisions(by map[string]State) ([]byte, error) { return json.MarshalIndent(by, "", " ") }

// DecodeDecisions is the inverse of EncodeDecisions. Empty text means no decisions. It refuses
// a state that is not a decision.
func DecodeDecisions(text []byte) (map[string]State, error) {
	by := map[string]State{}
	if text == nil {
		return by, nil
	}
	if err := json.Unmarshal(text, &by); err != nil {
		return nil, err
	}
	for id, s := range by {
		if s != Accepted && s != Rejected {
			return nil, fmt.Errorf("%q is not a decision on %q", s, id)
		}
	}
	return decisions(by), nil // null means none
}

// A Difference is everything in which a case differs.
type Difference struct {
	Case   string // the case's printed name
	Ending string // "exit 0 → exit 1"; empty if both ended alike
	Where  string // the engine's worker and times; empty for a run on this machine
	Parts  []Part
	Why    string // why nothing can be shown, or empty
}

// A Part is one part that differs.
type Part struct {
	Name     string // stdout, stderr, or a file's printed name
	Words    string // "12 bytes → 14 bytes": the only description of a part whose contents cannot be compared
	Old, Now []byte
	// Edits replace Old by Now. Their causes are indexes of items. If there are none, the
	// review computes the difference.
	Edits []cause.Attributed
}
