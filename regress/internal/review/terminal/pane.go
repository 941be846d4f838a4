package terminal

import (
	"fmt"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

// pane shows an item, and the difference of one of its cases.
func (m *model) pane(b box) []string {
	rows := m.about(b)
	k, some := m.wantedPage()
	lines, loaded := m.pages.get(k)
	if some {
		rows = append(rows, m.shown(lines, box{b.width, b.height - len(rows)})...)
	}
	if some && !loaded && len(rows) < b.height {
		rows = append(rows, m.paint.fit([]piece{{"loading …", palette.Dim}}, 0, b.width))
	}
	for len(rows) < b.height {
		rows = append(rows, m.paint.fit(nil, 0, b.width))
	}
	return rows
}

// shown returns the rows of a difference that fit the pane.
func (m *model) shown(lines []review.Line, b box) (rows []string) {
	from, shift := m.top(lines, b), m.shift(b)
	for i := from.line; len(rows) < b.height && i < len(lines); i++ {
		one := m.lineRows(lines[i], shift, b.width)
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
	if it.Family != "" {
		counts += ", family " + it.Family
	}
	rows := []string{
		m.paint.fit([]piece{{it.ID + "  " + it.Name, palette.Bold}}, 0, width),
		m.paint.fit([]piece{{counts, palette.Dim}}, 0, width),
	}
	if c, place, some := m.desk.Member(); some {
		rows = append(rows, m.paint.fit(m.caseRow(c, place, it), 0, width))
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

// pieces styles the spans of a line. Without colours, brackets enclose removed and added text
// within a line.
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
