package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
	"muster/regress/internal/palette"
)

// A painter styles text. If it is false it leaves out colours, and keeps the attributes without
// which the cursor's row and the changed stretches could not be seen.
type painter bool

func (p painter) paint(s palette.Style, text string) string {
	if !p {
		s = s.Colourless()
	}
	return s.Paint(text)
}

// A piece is text in one style.
type piece struct {
	text  string
	style palette.Style
}

// widths returns rules for the width of text that ignore the locale.
func widths() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// tabColumns is the distance of tab stops.
const tabColumns = 8

// safe removes everything from a text that could drive the terminal. All shown text passes
// through it.
func safe(text string) string { return strings.ReplaceAll(readable.Text(text), "\n", "‹LF›") }

// fit returns pieces as one row of exactly width columns, without the first shift columns. An
// ellipsis marks a cut at the end.
func (p painter) fit(pieces []piece, shift, width int) string {
	if width <= 0 {
		return ""
	}
	condition := widths()
	var row strings.Builder
	at := 0 // column
	for i, one := range pieces {
		one.text = safe(one.text)
		var text strings.Builder
		for j, r := range one.text {
			columns := condition.RuneWidth(r)
			if r == '\t' {
				columns = tabColumns - at%tabColumns
			}
			last := i == len(pieces)-1 && j+utf8.RuneLen(r) == len(one.text)
			if at+columns-shift > width || at+columns-shift == width && !last {
				row.WriteString(p.paint(one.style, text.String()))
				row.WriteString(strings.Repeat(" ", max(0, width-1-max(0, at-shift))) + "…")
				return row.String()
			}
			switch {
			case at+columns <= shift && columns > 0: // scrolled out
			case at < shift, r == '\t':
				text.WriteString(strings.Repeat(" ", at+columns-max(at, shift)))
			case at >= shift:
				text.WriteRune(r)
			}
			at += columns
		}
		row.WriteString(p.paint(one.style, text.String()))
	}
	row.WriteString(strings.Repeat(" ", max(0, width-max(0, at-shift))))
	return row.String()
}
