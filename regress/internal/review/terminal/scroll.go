package terminal

import (
	"slices"
	"unicode/utf8"

	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

// A place is a row of a difference: its line, and the row of that line if it is wrapped.
type place struct{ line, row int }

// A viewport is the stretch of a difference that the pane shows. Until a key moves it, it
// starts at the first change.
type viewport struct {
	cut     bool  // long lines are cut at the edge of the pane, not wrapped
	moved   bool  // a key has set top
	top     place // the first row
	shifted bool  // a key has set shift
	shift   int   // columns that are scrolled out to the left, if long lines are cut
}

// rewind goes back to the first change.
func (v *viewport) rewind() { *v = viewport{cut: v.cut} }

// space returns the size of the area that shows the difference.
func (m *model) space() box {
	b := m.split().right
	b.height = max(0, b.height-len(m.about(b)))
	return b
}

// shiftBy is the number of columns that a key moves sideways.
const shiftBy = 8

// leadShare is the share of the pane above the first change.
const leadShare = 3

// top returns the first row to show.
func (m *model) top(lines []review.Line, b box) place {
	if len(lines) == 0 {
		return place{}
	}
	if !m.view.moved {
		line := firstChange(lines)
		row, _ := m.firstMark(lines[line], b.width)
		return m.walk(lines, place{line, row}, -(b.height / leadShare), b.width)
	}
	p := m.view.top
	p.line = min(p.line, len(lines)-1)
	p.row = min(p.row, m.countRows(lines[p.line], b.width)-1)
	return p
}

// shift returns the number of columns that are scrolled out to the left.
func (m *model) shift(b box) int {
	lines := m.difference()
	if !m.view.cut || m.view.shifted || len(lines) == 0 {
		return m.view.shift
	}
	_, column := m.firstMark(lines[firstChange(lines)], b.width)
	if column < m.textWidth(b.width) {
		return 0
	}
	return max(0, column-b.width/leadShare) / shiftBy * shiftBy
}

// scroll moves the difference down by rows, or up by a negative number.
func (m *model) scroll(by int) {
	lines, b := m.difference(), m.space()
	m.view.top = m.walk(lines, m.top(lines, b), by, b.width)
	m.view.moved = true
}

// walk returns the place a number of rows below p, or above it for a negative number.
func (m *model) walk(lines []review.Line, p place, by, width int) place {
	for ; by < 0 && p != (place{}); by++ {
		if p.row == 0 {
			p.line--
			p.row = m.countRows(lines[p.line], width)
		}
		p.row--
	}
	for by > 0 && p.line < len(lines) {
		rest := m.countRows(lines[p.line], width) - 1 - p.row
		if step := min(by, rest); p.line == len(lines)-1 || step == by {
			return place{p.line, p.row + step}
		}
		by -= rest + 1
		p = place{p.line + 1, 0}
	}
	return p
}

// sideways moves the difference by columns, if long lines are cut.
func (m *model) sideways(by int) {
	if !m.view.cut {
		m.message = "long lines are wrapped: w cuts them, then ← → move sideways"
		return
	}
	m.view.shift = max(0, m.shift(m.space())+by)
	m.view.shifted = true
}

// firstChange returns the index of the first line with an edit of the item in focus, 0 for none.
func firstChange(lines []review.Line) int {
	inFocus := func(s review.Span) bool { return s.Mark == review.GoneMark || s.Mark == review.ComeMark }
	return max(0, slices.IndexFunc(lines, func(l review.Line) bool {
		if l.Old == 0 && l.Now == 0 { // hex has no numbers and no marks
			return l.Kind == review.Gone || l.Kind == review.Come
		}
		return slices.ContainsFunc(l.Left, inFocus) || slices.ContainsFunc(l.Right, inFocus)
	}))
}

// firstMark returns the row and the column of a line in which the first edit of the item in
// focus begins. The row counts if lines are wrapped, the column if they are cut.
func (m *model) firstMark(l review.Line, width int) (row, column int) {
	found := false
	for _, c := range m.layOutLine(l, width).cells {
		i := slices.IndexFunc(c.pieces, func(p piece) bool { return p.style == palette.RemovedMark || p.style == palette.AddedMark })
		if i < 0 {
			continue
		}
		_, size := utf8.DecodeRuneInString(c.pieces[i].text)
		upTo := append(slices.Clone(c.pieces[:i]), piece{c.pieces[i].text[:size], palette.Plain})
		at := columnsOf(upTo) - 1
		if !m.view.cut {
			at = len(fold(upTo, c.width)) - 1
		}
		if !found || at < row {
			found, row = true, max(0, at)
		}
	}
	if m.view.cut {
		return 0, row
	}
	return row, 0
}
