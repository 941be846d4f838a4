package cause

import "muster/regress/internal/outcome"

// A Case is one case that differs, as it was compared. Its contents are read only
// during the call that it is given to.
type Case struct {
	Name     string
	Size     int64 // of its source, in bytes
	Verdict  outcome.Verdict
	Old, Now outcome.Ending
	Parts    []Part // those that differ, in the order of their keys
	// What the tool said of how it ended: its standard error, or its standard output
	// where that is empty. Wanted where the endings differ.
	OldSaid, NowSaid []byte
}

// A Part is one part that differs.
type Part struct {
	Key              outcome.Key
	Old, Now         *outcome.Part // nil on the side that has none
	OldText, NowText []byte        // the contents as they were compared
}

// Kind says what sort of difference a cause is.
type Kind string

// The kinds, a closed set.
const (
	Edit      Kind = "edit"      // of a text
	Failing   Kind = "failing"   // newly failing, by its first error
	Passing   Kind = "passing"   // newly passing, by the error that is gone
	Ended     Kind = "ended"     // otherwise than before: by a signal, a limit, another status
	Binary    Kind = "binary"    // contents that are no text
	File      Kind = "file"      // a file that is new or gone, or no longer of the same form
	Rewritten Kind = "rewritten" // so much changed that there are no causes to tell apart
	Other     Kind = "other"     // rare edits, folded into one
)

// A Cause is one way in which cases differ.
type Cause struct {
	ID        string   `json:"id"`        // G1, G2 … by the number of cases
	Signature string   `json:"signature"` // the same in every run that shows the cause
	Name      string   `json:"name"`      // for people: "ll" → "LL"
	Kind      Kind     `json:"kind"`
	Family    string   `json:"family,omitempty"` // what it has alike with others; empty for none
	Cases     int      `json:"cases"`
	Lines     int      `json:"lines"`            // changed lines, of all its cases together
	Sole      int      `json:"sole"`             // cases that show nothing else
	Example   string   `json:"example"`          // the case that shows it best
	Smallest  string   `json:"smallest"`         // the case with the smallest source, one that shows nothing else if there is one
	Patterns  []string `json:"patterns"`         // what edits are compared with, see Index
	Folded    []string `json:"folded,omitempty"` // the names of what was folded into it
}

// A Span is a range of bytes.
type Span struct{ From, To int }

// A LiteralEdit replaces a range of an old content by a range of the new one.
type LiteralEdit struct{ Old, Now Span }

// An Attributed edit is a literal edit and the cause that it belongs to, an index.
type Attributed struct {
	LiteralEdit
	Cause int
}

// PartEdits are the edits of one part of a case, in order and apart: all of them, made on
// the old content, give the new one. None for a part that is no text on both sides, or of
// which there is too much to keep: more than 100,000.
type PartEdits struct {
	Key   outcome.Key
	Edits []Attributed
}

// A Member is a case and the causes that it shows, as indexes in ascending order: one
// at least.
type Member struct {
	Name   string
	Causes []int
	Parts  []PartEdits
}

// Found is what an Analysis came to.
type Found struct {
	Rewritten bool // so much changed that all edits are one cause, of that kind; how cases ended has its own
	Causes    []Cause
	Members   []Member // by name
}
