package report

import (
	"muster/regress/internal/diff"
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
	if !p {
		return line
	}
	return diff.Colour(line)
}

func colourOf(v outcome.Verdict) colour {
	switch v {
	case outcome.Identical:
		return green
	case outcome.Changed:
		return yellow
	case outcome.Flaky, outcome.DifferedOnce:
		return purple
	case outcome.New, outcome.Missing, outcome.NewlyPassing:
		return cyan
	}
	return red
}
