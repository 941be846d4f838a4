package terminal

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/internal/readable"
	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

// pane shows an item, and the difference of one of its cases.
func (m *model) pane(b box) []string {
	rows := m.about(b)
	k, some := m.wantedPage()
	if some {
		rows = append(rows, m.shown(m.difference(), box{b.width, b.height - len(rows)})...)
	}
	if some && m.page.pageKey != k && len(rows) < b.height {
		rows = append(rows, m.paint.fit([]piece{{"loading …", palette.Dim}}, b.width))
	}
	for len(rows) < b.height {
		rows = append(rows, m.paint.fit(nil, b.width))
	}
	return rows
}

// shown returns the rows of a difference that fit the pane.
func (m *model) shown(lines []review.Line, b box) (rows []string) {
	from := m.top(lines, b)
	for i := from.line; len(rows) < b.height && i < len(lines); i++ {
		one := m.lineRows(lines[i], b.width)
		if i == from.line {
			one = one[from.row:]
		}
		rows = append(rows, one...)
	}
	return rows[:min(len(rows), max(0, b.height))]
}

// about describes the item in the upper half of the pane, or in fewer rows.
func (m *model) about(b box) []string {
	width := b.width
	item, _, some := m.desk.Cursor()
	if !some {
		return nil
	}
	it := &m.desk.Items()[item]
	counts := readable.Count(it.Cases, "case")
	if it.Lines > 0 {
		counts += ", " + readable.Count(it.Lines, "line")
	}
	if it.Sole > 0 && it.Sole < it.Cases {
		counts += fmt.Sprintf(", %s with nothing else", readable.Number(it.Sole))
	}
	if it.Folded > 0 {
		counts += ", a bucket of " + readable.Count(it.Folded, "cause")
	}
	rows := []string{
		m.paint.fit([]piece{{it.ID + "  " + it.Name, palette.Bold}}, width),
		m.paint.fit([]piece{{counts, palette.Dim}}, width),
	}
	if family := it.Family; family != "" {
		text := "family " + family
		if n := len(m.desk.Under(item)); n > 1 {
			text = fmt.Sprintf("and %s of its family, f opens it: %s", m.desk.Count(n-1), family)
		}
		rows = append(rows, m.paint.fit([]piece{{text, palette.Dim}}, width))
	}
	if n := len(it.Joined); n > 0 {
		both := it.Joined[0] + ", … " + it.Joined[n-1]
		if n == 2 {
			both = it.Joined[0] + ", " + it.Joined[1]
		}
		rows = append(rows, m.paint.fit([]piece{{"of these: " + both, palette.Dim}}, width))
	}
	if c, place, some := m.desk.Member(); some {
		rows = append(rows, m.paint.fit(m.caseRow(c, place, it), width))
	}
	return rows[:min(len(rows), max(1, b.height/2))]
}

func (m *model) caseRow(c, place int, it *review.Item) []piece {
	one := &m.desk.Cases()[c]
	row := []piece{{fmt.Sprintf("%d/%d ", place+1, len(it.Members)), palette.Dim}, {one.Printed, palette.Plain}, {"  " + one.Verdict, palette.Yellow}}
	switch {
	case one.Promoted:
		row = append(row, piece{"  in the golden", palette.Green})
	case len(one.Items) > 1:
		row = append(row, piece{"  also " + strings.Join(m.otherIDs(one, it), " "), palette.Dim})
	}
	return append(row, piece{"  " + string(m.mode), palette.Cyan})
}

func (m *model) otherIDs(c *review.Case, it *review.Item) (ids []string) {
	for _, item := range c.Items {
		if id := m.desk.Items()[item].ID; id != it.ID {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, review.ByID)
	if len(ids) > 4 {
		ids = append(ids[:4], "…")
	}
	return ids
}

func spansText(spans []review.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// pieces styles the spans of a line.
func (m *model) pieces(spans []review.Span, base palette.Style) (row []piece) {
	for _, s := range spans {
		one := piece{s.Text, base}
		switch s.Mark {
		case review.GoneMark:
			one.style = palette.RemovedMark
		case review.ComeMark:
			one.style = palette.AddedMark
		case review.GoneOther, review.ComeOther:
			one.style = palette.Dim
		}
		row = append(row, one)
	}
	return row
}

// list shows the items that pass the filter. If they do not fit, the item under the cursor is
// in the middle.
func (m *model) list(b box) []string {
	visible := m.desk.Visible()
	_, place, _ := m.desk.Cursor()
	first := max(0, min(place-b.height/2, len(visible)-b.height))
	rows := make([]string, b.height)
	for i := range rows {
		if first+i < len(visible) {
			rows[i] = m.item(visible[first+i], first+i == place, b.width)
		} else {
			rows[i] = m.paint.fit(nil, b.width)
		}
	}
	if len(visible) == 0 {
		rows[0] = m.paint.fit([]piece{{"nothing passes the filter", palette.Dim}}, b.width)
	}
	return rows
}

func (m *model) item(item int, looked bool, width int) string {
	it := &m.desk.Items()[item]
	sign, colour := m.sign(item)
	cursor := " "
	if looked {
		cursor = ">"
	}
	cursor += " "
	count := " " + readable.Number(it.Cases)
	head := fmt.Sprintf("%s%s %-3s ", cursor, sign, it.ID)
	if n := len(m.desk.Under(item)); n > 1 {
		head += fmt.Sprintf("▸%d ", n-1)
	}
	// the name gets the rest of the row
	room := max(0, width-widths().StringWidth(head)-len(count))
	text := widths().FillRight(widths().Truncate(it.Name, room, "…"), room)
	if looked {
		return m.paint.fit([]piece{{head + text + count, palette.Reverse}}, width)
	}
	return m.paint.fit([]piece{{head, colour}, {text, palette.Plain}, {count, palette.Dim}}, width)
}

// sign returns the sign of an item's state. It has an asterisk if a commit would change the
// written decision.
func (m *model) sign(item int) (string, palette.Style) {
	sign, colour := "·", palette.Dim
	switch m.desk.Standing(item) {
	case review.Accepted:
		sign, colour = "✓", palette.Green
	case review.Rejected:
		sign, colour = "✗", palette.Red
	case review.Skipped:
		return "– ", palette.Dim
	}
	if slices.ContainsFunc(m.desk.Under(item), m.desk.Pending) {
		return sign + "*", colour
	}
	return sign + " ", colour
}

// A place is a row of a difference: its line, and the row of that line if it is wrapped.
type place struct{ line, row int }

// A viewport is the stretch of a difference that the pane shows. Until a key moves it, it
// starts at the first change.
type viewport struct {
	moved bool  // a key has set top
	top   place // the first row
}

// space returns the size of the area that shows the difference.
func (m *model) space() box {
	b := m.split().right
	b.height = max(0, b.height-len(m.about(b)))
	return b
}

// leadShare is the share of the pane above the first change.
const leadShare = 3

// top returns the first row to show.
func (m *model) top(lines []review.Line, b box) place {
	if len(lines) == 0 {
		return place{}
	}
	if !m.view.moved {
		line := firstChange(lines)
		return m.walk(lines, place{line, m.firstMark(lines[line], b.width)}, -(b.height / leadShare), b.width)
	}
	p := m.view.top
	p.line = min(p.line, len(lines)-1)
	p.row = min(p.row, m.countRows(lines[p.line], b.width)-1)
	return p
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

// firstMark returns the row of a line in which the first edit of the item in focus begins.
func (m *model) firstMark(l review.Line, width int) int {
	row := -1
	for _, c := range m.layOutLine(l, width).cells {
		i := slices.IndexFunc(c.pieces, func(p piece) bool { return p.style == palette.RemovedMark || p.style == palette.AddedMark })
		if i < 0 {
			continue
		}
		_, size := utf8.DecodeRuneInString(c.pieces[i].text)
		upTo := append(slices.Clone(c.pieces[:i]), piece{c.pieces[i].text[:size], palette.Plain})
		if at := len(fold(upTo, c.width)) - 1; row < 0 || at < row {
			row = at
		}
	}
	return max(0, row)
}
