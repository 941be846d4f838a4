package diff

import (
	"strings"
)

// Colour colours a line of a diff, without its newline, for a terminal.
func Colour(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return paint("32", line) // green
	case strings.HasPrefix(line, "-"):
		return paint("31", line) // red
	case strings.HasPrefix(line, "@@"):
		return paint("36", line) // cyan
	case strings.HasPrefix(line, "<"), strings.HasPrefix(line, ">"), strings.HasPrefix(line, "…"), strings.HasPrefix(line, "\\"):
		return paint("2", line) // dim
	}
	return line
}

func paint(parameter, line string) string { return "\x1b[" + parameter + "m" + line + "\x1b[0m" }

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
