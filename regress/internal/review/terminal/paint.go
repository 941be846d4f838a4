package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"muster/internal/readable"
)

// A style is what a text is, for the eye.
type style int

const (
	plain style = iota
	bold
	dim
	here // the row of the cursor
	yellow
	blue
	removed
	added
	gone // a stretch within a line
	come
)

// codes returns the parameters of the sequence that selects a style: a colour, and what
// needs none.
func (s style) codes() (colour, attributes string) {
	switch s {
	case bold:
		return "", "1"
	case dim:
		return "", "2"
	case here:
		return "", "7"
	case yellow:
		return "33", ""
	case blue:
		return "36", ""
	case removed:
		return "31", ""
	case added:
		return "32", ""
	case gone:
		return "31", "1;4"
	case come:
		return "32", "1;4"
	}
	return "", ""
}

// A painter styles text, with colours or without.
type painter bool

func (p painter) paint(s style, text string) string {
	colour, codes := s.codes()
	if bool(p) && colour != "" {
		codes = strings.TrimPrefix(codes+";"+colour, ";")
	}
	if codes == "" || text == "" {
		return text
	}
	return "\x1b[" + codes + "m" + text + "\x1b[0m"
}

// A piece is text of one style.
type piece struct {
	text  string
	style style
}

// widths tells how many columns text takes, whatever the locale.
func widths() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// tabColumns is how far apart tabs stop.
const tabColumns = 8

// safe is text in which nothing drives the terminal: whatever is shown passes here.
func safe(text string) string { return strings.ReplaceAll(readable.Text(text), "\n", "‹LF›") }

// fit returns pieces as one row of exactly width columns, without the first shift ones.
// What is cut off at the end is said by an ellipsis.
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
