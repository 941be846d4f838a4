package terminal

import (
	"fmt"

	"muster/internal/readable"
	"muster/regress/internal/palette"
	"muster/regress/internal/review"
)

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
			rows[i] = m.paint.fit(nil, 0, b.width)
		}
	}
	if len(visible) == 0 {
		rows[0] = m.paint.fit([]piece{{"nothing passes the filter", palette.Dim}}, 0, b.width)
	}
	return rows
}

func (m *model) item(item int, looked bool, width int) string {
	it := &m.desk.Items()[item]
	sign, colour := m.sign(item)
	cursor := "  "
	if looked {
		cursor = "> "
	}
	count := " " + readable.Number(it.Cases)
	head := fmt.Sprintf("%s%s %-3s ", cursor, sign, it.ID)
	// the name gets the rest of the row
	room := max(0, width-widths().StringWidth(head)-len(count))
	text := widths().FillRight(widths().Truncate(it.Name, room, "…"), room)
	if looked {
		return m.paint.fit([]piece{{head + text + count, palette.Reverse}}, 0, width)
	}
	return m.paint.fit([]piece{{head, colour}, {text, palette.Plain}, {count, palette.Dim}}, 0, width)
}

// sign returns the sign of an item's state. It has an asterisk if a commit would change the
// written decision, and an exclamation mark if another reviewer wrote that decision meanwhile.
func (m *model) sign(item int) (string, palette.Style) {
	sign, colour := "·", palette.Dim
	switch m.desk.State(item) {
	case review.Accepted:
		sign, colour = "✓", palette.Green
	case review.Rejected:
		sign, colour = "✗", palette.Red
	case review.Skipped:
		return "– ", palette.Dim
	}
	if _, contested := m.desk.Contested(item); contested {
		return sign + "!", colour
	}
	if m.desk.Pending(item) {
		return sign + "*", colour
	}
	return sign + " ", colour
}
