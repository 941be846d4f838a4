package report

import (
	"strings"

	"muster/regress/internal/outcome"
)

// A palette colours text, or leaves it alone when it is false.
type palette bool

// A colour is the parameter of the escape sequence that selects it.
type colour string

const (
	bold   colour = "1"
	dim    colour = "2"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	purple colour = "35"
	cyan   colour = "36"
)

func (p palette) paint(c colour, text string) string {
	if !p || text == "" || c == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// diffLine colours one line of a diff, without its newline.
func (p palette) diffLine(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return p.paint(green, line)
	case strings.HasPrefix(line, "-"):
		return p.paint(red, line)
	case strings.HasPrefix(line, "@@"):
		return p.paint(cyan, line)
	case strings.HasPrefix(line, "…"), strings.HasPrefix(line, "\\"):
		return p.paint(dim, line)
	}
	return line
}

func colourOf(v outcome.Verdict) colour {
	switch v {
	case outcome.Identical:
		return green
	case outcome.Changed:
		return yellow
	case outcome.Flaky:
		return purple
	case outcome.New, outcome.Missing, outcome.NewlyPassing:
		return cyan
	}
	return red
}
