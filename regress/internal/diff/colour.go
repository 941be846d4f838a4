package diff

import (
	"strings"

	"muster/regress/internal/palette"
)

// Colour colours a line of a diff, without its newline, for a terminal.
func Colour(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return palette.Added.Paint(line)
	case strings.HasPrefix(line, "-"):
		return palette.Removed.Paint(line)
	case strings.HasPrefix(line, "@@"):
		return palette.Cyan.Paint(line)
	case strings.HasPrefix(line, "<"), strings.HasPrefix(line, ">"), strings.HasPrefix(line, "…"), strings.HasPrefix(line, "\\"):
		return palette.Dim.Paint(line)
	}
	return line
}

// ColourAll is Colour of every line.
func ColourAll(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		plain, newline := strings.CutSuffix(line, "\n")
		b.WriteString(Colour(plain))
		if newline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
