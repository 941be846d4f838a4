// Package palette has the colours of all text that regress prints on a terminal: reports,
// diffs and the review.
//
// Text and a Style go in; text with escape sequences comes out. It must not decide whether a
// terminal wants colours: its callers ask package terminal once.
package palette

import "strings"

// A Style is a list of parameters for the escape sequence that selects colours and attributes
// (SGR, ECMA-48). Plain changes nothing.
type Style string

// The colours are those of the terminal's own theme.
const (
	Plain   Style = ""
	Bold    Style = "1"
	Dim     Style = "2"
	Reverse Style = "7"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Purple  Style = "35"
	Cyan    Style = "36"
)

// These are the styles of a difference.
const (
	Removed     = Red
	Added       = Green
	Mark        = Style("1;4")   // a changed stretch within a line, on top of the line's style
	Unmark      = Style("22;24") // ends Mark, and keeps the line's style
	RemovedMark = Mark + ";" + Removed
	AddedMark   = Mark + ";" + Added
)

// Start returns the escape sequence that selects the style.
func (s Style) Start() string { return "\x1b[" + string(s) + "m" }

// Paint returns text in the style. Empty text, and text in Plain, stays as it is.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return s.Start() + text + "\x1b[0m"
}

// Colourless returns the style without its colour. Attributes such as Bold stay.
func (s Style) Colourless() Style {
	var kept []string
	for parameter := range strings.SplitSeq(string(s), ";") {
		if len(parameter) != len(Red) || parameter[0] != Red[0] {
			kept = append(kept, parameter)
		}
	}
	return Style(strings.Join(kept, ";"))
}

// A Painter paints text, or leaves it alone when it is false.
type Painter bool

// Paint returns text in the style if p is true.
func (p Painter) Paint(s Style, text string) string {
	if !p {
		return text
	}
	return s.Paint(text)
}
