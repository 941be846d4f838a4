package report

import (
	"muster/regress"
	"muster/regress/internal/diff"
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

func colourOf(v regress.Verdict) colour {
	switch v {
	case regress.Identical:
		return green
	case regress.Changed:
		return yellow
	case regress.Flaky, regress.DifferedOnce:
		return purple
	case regress.New, regress.Missing, regress.NewlyPassing:
		return cyan
	}
	return red
}
