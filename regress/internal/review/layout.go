package review

// Mode is a form of layout for a difference.
type Mode string

// The closed set of forms.
const (
	Unified Mode = "unified" // the old lines, then the new ones
	Sides   Mode = "sides"   // old left, new right
	Words   Mode = "words"   // one text, with removed and added words in it
)

// Modes lists the forms in the order in which views cycle through them.
func Modes() []Mode { return []Mode{Unified, Sides, Words} }

// Kind is the kind of a line.
type Kind string

// The closed set of kinds. A view may use them as names of CSS classes.
const (
	Same    Kind = "same"
	Gone    Kind = "gone"    // only in the old text
	Come    Kind = "come"    // only in the new text
	Changed Kind = "changed" // both, in Sides and Words
	Heading Kind = "heading" // position of the next lines in the texts
	Remark  Kind = "remark"  // something that is left out or invisible
)

// Mark is the marking of a span of a line.
type Mark string

// The closed set of marks.
const (
	Plain     Mark = ""
	GoneMark  Mark = "gone"
	ComeMark  Mark = "come"
	GoneOther Mark = "gone-other" // an edit of another item than the one in focus
	ComeOther Mark = "come-other"
)

// A Span is a stretch of a line. It has no control characters except tabs, so it cannot drive a
// terminal or hide.
type Span struct {
	Text string `json:"text"`
	Mark Mark   `json:"mark,omitempty"`
}

// A Line is one line of a difference.
type Line struct {
	Kind  Kind   `json:"kind"`
	Old   int    `json:"old,omitempty"` // number of the line, from 1; 0 = none
	Now   int    `json:"now,omitempty"`
	Left  []Span `json:"left,omitempty"`  // the old text in Sides, else the whole line
	Right []Span `json:"right,omitempty"` // the new text, in Sides
}

// A Layout controls how a difference is laid out. A zero field stands for its default.
type Layout struct {
	Mode    Mode // Unified
	Focus   int  // index of the item in focus, or All
	Others  bool // also show edits that belong only to other items
	Lines   int  // largest number of lines, default 400; remarks are not counted
	Columns int  // bytes of a line, default 400; a remark counts the rest
	Context int  // equal lines around an edit, default 3
}

// All as a Focus means no particular item.
const All = -1

func (l Layout) withDefaults() Layout {
	if l.Mode == "" {
		l.Mode = Unified
	}
	if l.Lines == 0 {
		l.Lines = 400
	}
	if l.Columns == 0 {
		l.Columns = 400
	}
	if l.Context == 0 {
		l.Context = 3
	}
	return l
}
