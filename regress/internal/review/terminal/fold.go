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
	further string // the same on further rows of a wrapped line
	cells   []cell // whether a rule stands between two cells
	fixed   bool   // whether the line ignores sideways moves
}

// layOutLine divides a line of a difference into columns.
func (m *model) layOutLine(l review.Line, width int) lineLayout {
	switch l.Kind {
	case review.Heading:
		return lineLayout{cells: []cell{{[]piece{{spansText(l.Left), palette.Cyan}}, width}}, fixed: true}
	case review.Remark:
		return lineLayout{cells: []cell{{[]piece{{spansText(l.Left), palette.Dim}}, width}}, fixed: true}
	}
	if m.mode == review.Sides && (l.Old > 0 || l.Now > 0) { // hex has no line numbers, and one side
		half := m.textWidth(width)
		return lineLayout{cells: []cell{{m.pieces(l.Left, palette.Plain), half}, {m.pieces(l.Right, palette.Plain), width - 1 - half}}}
	}
	sign, base := " ", palette.Plain
	if m.mode == review.Unified {
		switch l.Kind {
		case review.Gone:
			sign, base = "-", palette.Removed
		case review.Come:
			sign, base = "+", palette.Added
		}
	}
	return lineLayout{
		sign: m.paint.paint(base, sign), further: m.paint.paint(palette.Dim, "↳"),
		cells: []cell{{m.pieces(l.Left, base), m.textWidth(width)}},
	}
}

// textWidth returns the columns of the left text in a pane.
func (m *model) textWidth(width int) int {
	if m.mode == review.Sides {
		return (width - 1) / 2
	}
	return width - 1
}

// countRows returns the number of rows that lineRows returns.
func (m *model) countRows(l review.Line, width int) int {
	count := 1
	if !m.view.cut {
		for _, c := range m.layOutLine(l, width).cells {
			count = max(count, len(fold(c.pieces, c.width)))
		}
	}
	return count
}

// lineRows paints a line of a difference: in one row without its first shift columns if
// long lines are cut, else in as many rows as it takes.
func (m *model) lineRows(l review.Line, shift, width int) []string {
	line := m.layOutLine(l, width)
	if line.fixed {
		shift = 0
	}
	columns := make([][]string, len(line.cells))
	count := 1
	for i, c := range line.cells {
		if m.view.cut {
			columns[i] = []string{m.paint.fit(c.pieces, shift, c.width)}
		} else {
			columns[i] = m.paint.wrapped(c)
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
				texts[j] = m.paint.fit(nil, 0, line.cells[j].width)
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

// wrapped returns a cell as rows of exactly its width.
func (p painter) wrapped(c cell) (rows []string) {
	for _, pieces := range fold(c.pieces, c.width) {
		var row strings.Builder
		for _, one := range pieces {
			row.WriteString(p.paint(one.style, one.text))
		}
		rows = append(rows, row.String()+strings.Repeat(" ", max(0, c.width-columnsOf(pieces))))
	}
	return rows
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

// columnsOf returns the columns that pieces take in one row.
func columnsOf(pieces []piece) (columns int) {
	condition := widths()
	for _, one := range pieces {
		for _, r := range safe(one.text) {
			if r == '\t' {
				columns += tabColumns - columns%tabColumns
			} else {
				columns += condition.RuneWidth(r)
			}
		}
	}
	return columns
}
