package terminal

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

// A cell is a column of text in the pane.
type cell struct {
	pieces []piece
	width  int
}

// A lineLayout is a line of a difference in the columns of the pane.
type lineLayout struct {
	sign    string // painted, left of the cells; "" for none
	further string // the same on further rows
	cells   []cell // a rule stands between two cells
}

// layOutLine divides a line of a difference into columns.
func (m *model) layOutLine(l review.Line, width int) lineLayout {
	switch l.Kind {
	case review.Heading:
		return lineLayout{cells: []cell{{[]piece{{spansText(l.Left), palette.Cyan}}, width}}}
	case review.Remark:
		return lineLayout{cells: []cell{{[]piece{{spansText(l.Left), palette.Dim}}, width}}}
	}
	if m.mode == review.Sides && (l.Old > 0 || l.Now > 0) { // hex has no line numbers, and one side
		half := (width - 1) / 2
		return lineLayout{cells: []cell{{m.pieces(l.Left, palette.Plain), half}, {m.pieces(l.Right, palette.Plain), width - 1 - half}}}
	}
	sign, base := " ", palette.Plain
	switch l.Kind {
	case review.Gone:
		sign, base = "-", palette.Removed
	case review.Come:
		sign, base = "+", palette.Added
	}
	return lineLayout{
		sign: m.paint.paint(base, sign), further: m.paint.paint(palette.Dim, "↳"),
		cells: []cell{{m.pieces(l.Left, base), width - 1}},
	}
}

// countRows returns the number of rows that lineRows returns.
func (m *model) countRows(l review.Line, width int) int {
	count := 1
	for _, c := range m.layOutLine(l, width).cells {
		count = max(count, len(fold(c.pieces, c.width)))
	}
	return count
}

// lineRows paints a line of a difference in as many rows as it takes.
func (m *model) lineRows(l review.Line, width int) []string {
	line := m.layOutLine(l, width)
	columns := make([][]string, len(line.cells))
	count := 1
	for i, c := range line.cells {
		for _, pieces := range fold(c.pieces, c.width) {
			columns[i] = append(columns[i], m.paint.row(pieces, c.width))
		}
		count = max(count, len(columns[i]))
	}
	rows := make([]string, count)
	for i := range rows {
		texts := make([]string, len(columns))
		for j, column := range columns {
			if i < len(column) {
				texts[j] = column[i]
			} else {
				texts[j] = m.paint.row(nil, line.cells[j].width)
			}
		}
		sign := line.sign
		if i > 0 {
			sign = line.further
		}
		rows[i] = sign + strings.Join(texts, m.paint.paint(palette.Dim, "│"))
	}
	return rows
}

// row paints pieces that fit into a row of exactly width columns.
func (p painter) row(pieces []piece, width int) string {
	condition := widths()
	var row strings.Builder
	left := width
	for _, one := range pieces {
		row.WriteString(p.paint(one.style, one.text))
		for _, r := range one.text {
			left -= condition.RuneWidth(r)
		}
	}
	return row.String() + strings.Repeat(" ", max(0, left))
}

// fit returns pieces as one row of exactly width columns. An ellipsis marks a cut at the end.
func (p painter) fit(pieces []piece, width int) string {
	if width <= 0 {
		return ""
	}
	rows := fold(pieces, width)
	if len(rows) > 1 {
		rows[0] = append(fold(pieces, width-1)[0], piece{"…", palette.Plain})
	}
	return p.row(rows[0], width)
}

// fold breaks pieces into rows of at most width columns, at least one row. Tabs become
// spaces. Characters that are wider than a row become an ellipsis.
func fold(pieces []piece, width int) [][]piece {
	rows := [][]piece{nil}
	if width <= 0 {
		return rows
	}
	condition := widths()
	at := 0 // column
	for _, one := range pieces {
		var text strings.Builder
		end := func() {
			if text.Len() > 0 {
				last := len(rows) - 1
				rows[last] = append(rows[last], piece{text.String(), one.style})
				text.Reset()
			}
		}
		for _, r := range safe(one.text) {
			shown, columns := columnsAt(condition, r, at, width)
			if at+columns > width {
				end()
				rows, at = append(rows, nil), 0
				shown, columns = columnsAt(condition, r, at, width)
			}
			text.WriteString(shown)
			at += columns
		}
		end()
	}
	return rows
}

// columnsAt returns the text that shows a character at a column, and its width in columns.
func columnsAt(condition *runewidth.Condition, r rune, at, width int) (shown string, columns int) {
	columns = condition.RuneWidth(r)
	switch {
	case r == '\t':
		if columns = min(tabColumns, width); at < width {
			columns = min(tabColumns-at%tabColumns, width-at)
		}
		return strings.Repeat(" ", columns), columns
	case columns > width:
		return "…", 1
	}
	return string(r), columns
}
