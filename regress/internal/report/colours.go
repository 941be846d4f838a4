package report

import (
	"muster/regress"
	"muster/regress/internal/diff"
	"muster/regress/internal/palette"
)

// paintDiffLine colours one line of a diff, without its newline, if p is true.
func paintDiffLine(p palette.Painter, line string) string {
	if !p {
		return line
	}
	return diff.Colour(line)
}

func colourOf(v regress.Verdict) palette.Style {
	switch v {
	case regress.Identical:
		return palette.Green
	case regress.Changed:
		return palette.Yellow
	case regress.Flaky, regress.DifferedOnce:
		return palette.Purple
	case regress.New, regress.Missing, regress.NewlyPassing:
		return palette.Cyan
	}
	return palette.Red
}
