package review

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/diff"
	"muster/regress/internal/plaintext"
)

// Render lays a part out. It takes as long as reading the part once. Its result is bounded by
// the layout, and says what it leaves out.
func Render(p Part, l Layout) []Line {
	l = l.withDefaults()
	if !plaintext.Is(p.Old) || !plaintext.Is(p.Now) {
		return hex(p, l)
	}
	edits, attributed := Edits(p)
	if !attributed {
		l.Focus = All
	}
	s := &sheet{Layout: l, part: p, room: l.Lines}
	blocks(p, edits, s.block)
	s.end(len(edits))
	return s.lines
}

// hex shows contents that are not text, alike in all modes.
func hex(p Part, l Layout) (lines []Line) {
	for text := range strings.Lines(diff.Hex(p.Old, p.Now, diff.Limits{Lines: l.Lines})) {
		text = strings.TrimSuffix(text, "\n")
		line := Line{Kind: Same, Left: []Span{{Text: text}}}
		switch {
		case strings.HasPrefix(text, "-"):
			line.Kind = Gone
		case strings.HasPrefix(text, "+"):
			line.Kind = Come
		case strings.HasPrefix(text, "@@"):
			line.Kind = Heading
		case !strings.HasPrefix(text, " "):
			line.Kind = Remark
		}
		lines = append(lines, line)
	}
	if len(lines) >= l.Lines {
		lines = append(lines, remark("the rest is left out"))
	}
	return lines
}

func remark(format string, args ...any) Line {
	return Line{Kind: Remark, Left: []Span{{Text: "… " + fmt.Sprintf(format, args...)}}}
}

// A sheet collects the lines of a difference while there is room.
type sheet struct {
	Layout
	part  Part
	lines []Line
	room  int

	old, now   int // end of the text that is shown or skipped
	oldNumber  int // number of lines before that
	nowNumber  int
	seen       int // edits so far
	passed     int // of these, edits of other items that were skipped since the last shown line
	hasTrailer bool
}

// block shows one block, and reports whether there is room for more.
func (s *sheet) block(b block) bool {
	s.trail(b.old.From)
	if s.room <= 0 {
		return false
	}
	s.seen += len(b.edits)
	if !s.wants(b) {
		s.passed += len(b.edits)
		s.skip(b.old.To, b.now.To)
		return true
	}
	s.lead(b)
	if s.Mode == Sides {
		s.sides(b)
	} else {
		s.unified(b)
	}
	s.skip(b.old.To, b.now.To)
	s.hasTrailer = true
	return true
}

func (s *sheet) wants(b block) bool {
	return s.Focus == All || s.Others || slices.ContainsFunc(b.edits, func(e cause.Attributed) bool { return e.Cause == s.Focus })
}

// skip advances in both texts without showing anything.
func (s *sheet) skip(old, now int) {
	s.oldNumber += bytes.Count(s.part.Old[s.old:old], newline)
	s.nowNumber += bytes.Count(s.part.Now[s.now:now], newline)
	s.old, s.now = old, now
}

// lead shows the position of a block, and the lines before it.
func (s *sheet) lead(b block) {
	from := max(s.old, plaintext.Back(s.part.Old, b.old.From, s.Context))
	if s.passed > 0 {
		s.lines = append(s.lines, remark("%s of other causes", readable.Count(s.passed, "edit")))
		s.passed = 0
	}
	if from > s.old || len(s.lines) == 0 {
		s.skip(from, s.now+from-s.old)
		s.put(Line{Kind: Heading, Old: s.oldNumber + 1, Now: s.nowNumber + 1,
			Left: []Span{{Text: fmt.Sprintf("@@ line %s @@", readable.Number(s.nowNumber+1))}}})
	}
	s.context(b.old.From)
}

// trail shows the lines after the last block, up to the next one.
func (s *sheet) trail(next int) {
	if s.hasTrailer {
		s.hasTrailer = false
		s.context(min(next, plaintext.Forth(s.part.Old, s.old, s.Context)))
	}
}

// context shows lines that are equal on both sides, up to an offset in the old text.
func (s *sheet) context(to int) {
	for s.old < to && s.room > 0 {
		end := min(to, plaintext.LineEnd(s.part.Old, s.old))
		text := bytes.TrimSuffix(bytes.TrimSuffix(s.part.Old[s.old:end], newline), []byte("\r"))
		spans := s.spans(text, s.old, nil)
		line := Line{Kind: Same, Old: s.oldNumber + 1, Now: s.nowNumber + 1, Left: spans}
		if s.Mode == Sides {
			line.Right = spans
		}
		s.put(line)
		s.skip(end, s.now+end-s.old)
	}
}

func (s *sheet) put(l Line) {
	if s.room > 0 {
		s.lines = append(s.lines, l)
		s.room--
	}
}

// end shows the lines after the last block, and counts what was left out.
func (s *sheet) end(total int) {
	s.trail(len(s.part.Old))
	left := total - s.seen
	switch {
	case left > 0 && s.passed > 0:
		s.lines = append(s.lines, remark("%s of other causes, and %s not shown", readable.Count(s.passed, "edit"), readable.Count(left, "more edit")))
	case left > 0:
		s.lines = append(s.lines, remark("%s not shown", readable.Count(left, "more edit")))
	case s.passed > 0:
		s.lines = append(s.lines, remark("%s of other causes", readable.Count(s.passed, "edit")))
	}
}

// marks returns the marked ranges of a block's edits on one side.
func (s *sheet) marks(edits []cause.Attributed, old bool) (marked []stretch) {
	for _, e := range edits {
		m := stretch{e.Now, ComeMark}
		other := s.Focus != All && e.Cause != s.Focus
		switch {
		case old && other:
			m = stretch{e.Old, GoneOther}
		case old:
			m = stretch{e.Old, GoneMark}
		case other:
			m.mark = ComeOther
		}
		if m.From < m.To {
			marked = append(marked, m)
		}
	}
	return marked
}

// A stretch is a marked range of a text.
type stretch struct {
	cause.Span
	mark Mark
}

// Mode is a form of layout for a difference.
type Mode string

// The closed set of forms.
const (
	Unified Mode = "unified" // the old lines, then the new ones
	Sides   Mode = "sides"   // old left, new right
)

// Modes lists the forms in the order in which views cycle through them.
func Modes() []Mode { return []Mode{Unified, Sides} }

// Kind is the kind of a line.
type Kind string

// The closed set of kinds. A view may use them as names of CSS classes.
const (
	Same    Kind = "same"
	Gone    Kind = "gone"    // only in the old text
	Come    Kind = "come"    // only in the new text
	Changed Kind = "changed" // both, in Sides
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
	l.Mode, l.Lines = cmp.Or(l.Mode, Unified), cmp.Or(l.Lines, 400)
	l.Columns, l.Context = cmp.Or(l.Columns, 400), cmp.Or(l.Context, 3)
	return l
}

// A Difference is everything in which a case differs.
type Difference struct {
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
