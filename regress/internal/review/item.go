package review

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
	ID string `json:"id"` // G1 …, or NewID and the others below
	// The same in every run with this cause; empty for items that are no cause.
	Signature string   `json:"-"`
	Name      string   `json:"name"`             // printable name
	Kind      string   `json:"kind"`             // kind of the cause, or empty
	Family    string   `json:"-"`                // printable name of its family, or empty
	Folded    int      `json:"folded"`           // of a bucket: how many causes it stands for
	Joined    []string `json:"joined,omitempty"` // the changes that it stands for, if they differ
	Rule      string   `json:"rule,omitempty"`   // what is known of its rule, or empty
	Cases     int      `json:"cases"`
	Lines     int      `json:"lines"` // changed lines of all its cases; 0 if nothing was compared
	Sole      int      `json:"sole"`  // number of cases that are in no other item
	Example   string   `json:"-"`
	Smallest  string   `json:"smallest"`
	Members   []int    `json:"-"` // indexes of its cases, in reading order: the example first
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
