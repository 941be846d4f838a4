package review

// Mode is a form in which a difference is laid out.
type Mode string

// The forms, a closed set.
const (
	Unified Mode = "unified" // the old lines, then the new ones
	Sides   Mode = "sides"   // old left, new right
	Words   Mode = "words"   // one text, with what went and what came in it
)

// Modes lists them in the order in which views go round.
func Modes() []Mode { return []Mode{Unified, Sides, Words} }

// Kind says what a line is.
type Kind string

// The kinds of lines, a closed set. A view may take them as names of classes.
const (
	Same    Kind = "same"
	Gone    Kind = "gone"    // only in the old text
	Come    Kind = "come"    // only in the new text
	Changed Kind = "changed" // both, in Sides and Words
	Heading Kind = "heading" // where in the texts the next lines are
	Remark  Kind = "remark"  // what is left out, or cannot be seen
)

// Mark says what a span of a line is.
type Mark string

// The marks, a closed set.
const (
	Plain     Mark = ""
	GoneMark  Mark = "gone"
	ComeMark  Mark = "come"
	GoneOther Mark = "gone-other" // of another item than the one in focus
	ComeOther Mark = "come-other"
)

// A Span is a stretch of a line. Nothing in it can drive a terminal or hide: tabs are
// the only control characters.
type Span struct {
	Text string `json:"text"`
	Mark Mark   `json:"mark,omitempty"`
}

// A Line is one line of a difference.
type Line struct {
	Kind  Kind   `json:"kind"`
	Old   int    `json:"old,omitempty"` // number of the line, from 1; 0 for none
	Now   int    `json:"now,omitempty"`
	Left  []Span `json:"left,omitempty"`  // the old text in Sides, else the whole line
	Right []Span `json:"right,omitempty"` // the new text, in Sides
}

// A Layout says how to lay a difference out. A zero field stands for its default.
type Layout struct {
	Mode    Mode // Unified
	Focus   int  // index of the item that is looked at, All for none in particular
	Others  bool // also show edits that belong to other items alone
	Lines   int  // the most that there may be, 400; remarks come on top
	Columns int  // bytes of a line, 400; what is beyond is said
	Context int  // equal lines around an edit, 3
}

// All as a Focus is no item in particular.
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
