package review

import (
	"bytes"
	"fmt"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/cause"
	"muster/regress/internal/diff"
)

// Render lays a part out. It takes as long as reading the part once. Its result is bounded by
// the layout, and says what it leaves out.
func Render(p Part, l Layout) []Line {
	l = l.withDefaults()
	if diff.Binary(p.Old) || diff.Binary(p.Now) {
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
	switch s.Mode {
	case Sides:
		s.sides(b)
	case Words:
		s.words(b)
	default:
		s.unified(b)
	}
	s.skip(b.old.To, b.now.To)
	s.hasTrailer = true
	return true
}

func (s *sheet) wants(b block) bool {
	if s.Focus == All || s.Others {
		return true
	}
	for _, e := range b.edits {
		if e.Cause == s.Focus {
			return true
		}
	}
	return false
}

// skip advances in both texts without showing anything.
func (s *sheet) skip(old, now int) {
	s.oldNumber += bytes.Count(s.part.Old[s.old:old], newline)
	s.nowNumber += bytes.Count(s.part.Now[s.now:now], newline)
	s.old, s.now = old, now
}

// lead shows the position of a block, and the lines before it.
func (s *sheet) lead(b block) {
	from := b.old.From
	for n := 0; n < s.Context && from > s.old; n++ {
		from = max(s.old, diff.LineStart(s.part.Old, from-1))
	}
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
	if !s.hasTrailer {
		return
	}
	s.hasTrailer = false
	to := s.old
	for n := 0; n < s.Context && to < next; n++ {
		to = diff.LineEnd(s.part.Old, to)
	}
	s.context(min(to, next))
}

// context shows lines that are equal on both sides, up to an offset in the old text.
func (s *sheet) context(to int) {
	for s.old < to && s.room > 0 {
		end := min(to, diff.LineEnd(s.part.Old, s.old))
		text := bytes.TrimSuffix(bytes.TrimSuffix(s.part.Old[s.old:end], newline), []byte("\r"))
		spans := s.spans(text, 0, nil)
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
