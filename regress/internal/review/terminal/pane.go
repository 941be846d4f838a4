package terminal

import (
	"fmt"
	"slices"
	"strings"

	"muster/regress/internal/readable"
	"muster/regress/internal/review"
)

// pane shows what is said of an item, and the difference of one of its cases.
func (m *model) pane(b box) []string {
	rows := m.about(b.width)
	rows = rows[:min(len(rows), max(1, b.height/2))]
	k, some := m.wanted()
	lines, loaded := m.pages.get(k)
	for i := m.top; len(rows) < b.height && i < len(lines) && some; i++ {
		rows = append(rows, m.line(lines[i], b.width))
	}
	if some && !loaded && len(rows) < b.height {
		rows = append(rows, m.paint.fit([]piece{{"loading …", dim}}, 0, b.width))
	}
	for len(rows) < b.height {
		rows = append(rows, m.paint.fit(nil, 0, b.width))
	}
	return rows
}

// about says what there is to know of the item that is looked at.
func (m *model) about(width int) []string {
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
	if it.Family != "" {
		counts += ", family " + it.Family
	}
	rows := []string{
		m.paint.fit([]piece{{it.ID + "  " + it.Name, bold}}, 0, width),
		m.paint.fit([]piece{{counts, dim}}, 0, width),
	}
	if c, place, some := m.desk.Member(); some {
		rows = append(rows, m.paint.fit(m.caseRow(c, place, it), 0, width))
	}
	return rows
}

func (m *model) caseRow(c, place int, it *review.Item) []piece {
	one := &m.desk.Cases()[c]
	row := []piece{{fmt.Sprintf("%d/%d ", place+1, len(it.Members)), dim}, {one.Printed, plain}, {"  " + one.Verdict, yellow}}
	switch {
	case one.Promoted:
		row = append(row, piece{"  in the golden", added})
	case len(one.Items) > 1:
		row = append(row, piece{"  also " + strings.Join(m.otherIDs(one, it), " "), dim})
	}
	return append(row, piece{"  " + string(m.mode), blue})
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

// line shows one line of a difference.
func (m *model) line(l review.Line, width int) string {
	switch l.Kind {
	case review.Heading:
		return m.paint.fit([]piece{{spansText(l.Left), blue}}, 0, width)
	case review.Remark:
		return m.paint.fit([]piece{{spansText(l.Left), dim}}, 0, width)
	}
	if m.mode == review.Sides && (l.Old > 0 || l.Now > 0) { // hex has no numbers, and one side
		half := (width - 1) / 2
		return m.paint.fit(m.pieces(l.Left, plain), m.shift, half) + m.paint.paint(dim, "│") +
			m.paint.fit(m.pieces(l.Right, plain), m.shift, width-1-half)
	}
	sign, base := " ", plain
	if m.mode == review.Unified {
		switch l.Kind {
		case review.Gone:
			sign, base = "-", removed
		case review.Come:
			sign, base = "+", added
		}
	}
	return m.paint.paint(base, sign) + m.paint.fit(m.pieces(l.Left, base), m.shift, width-1)
}

func spansText(spans []review.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// pieces styles the spans of a line. Without colours, what went and came within one line
// stands in brackets.
func (m *model) pieces(spans []review.Span, base style) (row []piece) {
	for _, s := range spans {
		one := piece{s.Text, base}
		switch s.Mark {
		case review.GoneMark:
			one.style = gone
		case review.ComeMark:
			one.style = come
		case review.GoneOther, review.ComeOther:
			one.style = dim
		}
		if !m.paint && m.mode == review.Words {
			switch s.Mark {
			case review.GoneMark, review.GoneOther:
				one.text = "[-" + one.text + "-]"
			case review.ComeMark, review.ComeOther:
				one.text = "{+" + one.text + "+}"
			}
		}
		row = append(row, one)
	}
	return row
}
