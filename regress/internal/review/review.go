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

	"muster/internal/readable"
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

// An Item is one thing to decide on: a cause, or all cases of one kind that have no cause. The tags are
// the keys that the page reads.
type Item struct {
	ID       string   `json:"id"`               // G1 …, or NewID and the others below
	Name     string   `json:"name"`             // printable name
	Kind     string   `json:"kind"`             // kind of the cause, or empty
	Family   string   `json:"-"`                // printable name of its family, or empty
	Folded   int      `json:"folded"`           // of a bucket: how many causes it stands for
	Joined   []string `json:"joined,omitempty"` // the changes that it stands for, if they differ
	Cases    int      `json:"cases"`
	Lines    int      `json:"lines"` // changed lines of all its cases; 0 if nothing was compared
	Sole     int      `json:"sole"`  // number of cases that are in no other item
	Example  string   `json:"-"`
	Smallest string   `json:"smallest"`
	Members  []int    `json:"-"` // indexes of its cases, in reading order: the example first
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
	list
	ids map[string]int

	base map[string]State // written decisions by ID: Accepted or Rejected
	mine map[int]State    // pending decisions, by item
	undo []step
	shut string // why no case can go into the golden
}

// New returns a review of items and their cases. Several reviews may share the items; New
// copies the cases. Families are folded. The cursor is at the first undecided item. written has the
// existing decisions, by ID; New ignores IDs without an item.
func New(items []Item, cases []Case, written map[string]State) *Review {
	r := &Review{
		list: list{items: items, cases: slices.Clone(cases), open: map[string]bool{}},
		ids:  map[string]int{}, mine: map[int]State{},
	}
	for i := range items {
		r.ids[items[i].ID] = i
	}
	r.base = decisions(written)
	r.Filter("")
	r.cursor = max(0, slices.IndexFunc(r.visible, r.isUndecided))
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

// ByID orders IDs by number: G2 before G10.
func ByID(a, b string) int {
	if len(a) != len(b) && strings.HasPrefix(a, "G") && strings.HasPrefix(b, "G") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// EncodeDecisions encodes decisions, by ID, for a file.
func EncodeDecisions(by map[string]State) ([]byte, error) { return json.MarshalIndent(by, "", " ") }

// DecodeDecisions is the inverse of EncodeDecisions. It refuses a state that is not a decision.
func DecodeDecisions(text []byte) (map[string]State, error) {
	by := map[string]State{}
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

// Noun returns the noun for all items: causes, or items if some are not causes.
func (r *Review) Noun() string {
	for i := range r.items {
		if r.items[i].Kind == "" {
			return "item"
		}
	}
	return "cause"
}

// Count writes a number of items: "2 causes".
func (r *Review) Count(n int) string { return readable.Count(n, r.Noun()) }
