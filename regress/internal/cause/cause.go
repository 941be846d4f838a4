package cause

import (
	"muster/regress"
	"muster/regress/internal/outcome"
)

// A Case is a case that differs. Add and Explain read its contents, and do not keep them.
type Case struct {
	Name     string
	Size     int64 // of its source, in bytes
	Verdict  regress.Verdict
	Old, Now regress.Ending
	Parts    []Part // those that differ, by key
	// The last messages of the tool: its standard error, or its standard output if that is empty.
	// Needed only if the endings differ.
	OldMessages, NowMessages []byte
}

// A Part is one part that differs.
type Part struct {
	Key              outcome.Key
	Old, Now         *outcome.Part // nil on the side that lacks it
	OldText, NowText []byte        // the contents after rewrites
}

// Kind is the kind of difference that a cause makes.
type Kind string

// The kinds, a closed set.
const (
	Edit      Kind = "edit"      // of a text
	Failing   Kind = "failing"   // newly failing, by its first error
	Passing   Kind = "passing"   // newly passing, by the error that is gone
	Ended     Kind = "ended"     // a different ending: by a signal, a limit, another status
	Binary    Kind = "binary"    // contents that are not text
	File      Kind = "file"      // a file that is new or gone, or has another form
	Rewritten Kind = "rewritten" // too much changed to separate causes
	Other     Kind = "other"     // rare edits, folded into one
)

// A Cause is one way in which cases differ.
type Cause struct {
	ID        string   `json:"id" line:"id"`               // G1, G2 … by the number of cases
	Signature string   `json:"signature" line:"signature"` // the same in every run that shows the cause
	Name      string   `json:"name" line:"name"`           // for people: "ll" → "LL"
	Kind      Kind     `json:"kind" line:"kind"`
	Family    string   `json:"family,omitempty" line:"family"` // what it shares with other causes; may be empty
	Cases     int      `json:"cases" line:"cases"`
	Lines     int      `json:"lines" line:"lines"`             // changed lines of all its cases together
	Sole      int      `json:"sole" line:"sole"`               // cases that show nothing else
	Example   string   `json:"example" line:"example,name"`    // the case that shows it best
	Smallest  string   `json:"smallest" line:"smallest,name"`  // the case with the smallest source; cases that show nothing else come first
	Patterns  []string `json:"patterns"`                       // edits are compared with these, see Index
	Folded    []string `json:"folded,omitempty" line:"folded"` // the names of the causes that were folded into it
}

// A Span is a range of bytes.
type Span struct{ From, To int }

// A LiteralEdit replaces a range of an old content by a range of the new one.
type LiteralEdit struct{ Old, Now Span }

// An Attributed edit is a literal edit with the index of its cause.
type Attributed struct {
	LiteralEdit
	Cause int
}

// PartEdits are the edits of one part of a case. They are in order and do not overlap. Applied to
// the old content, all of them together give the new one. They are empty if a side is not text, or
// if the part has more than 100,000 edits.
type PartEdits struct {
	Key   outcome.Key
	Edits []Attributed
}

// A Member is a case with the causes that it shows: at least one, as indexes in ascending order.
type Member struct {
	Name   string
	Causes []int
	Parts  []PartEdits
}

// Found is the result of an Analysis.
type Found struct {
	Rewritten bool // so much changed that all edits are one cause of that kind; endings have causes of their own
	Causes    []Cause
	Members   []Member // by name
}
