package hole

import (
	"slices"
	"strings"

	"muster/regress/internal/diff"
)

// splitLines cuts text after each newline.
func splitLines(text []byte) []string {
	lines := make([]string, 0, diff.CountLines(text))
	for line := range strings.Lines(string(text)) {
		lines = append(lines, line)
	}
	return lines
}

// lineStarts returns where each line starts, and the end of the text.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for at := 0; at < len(text); {
		at = diff.LineEnd(text, at)
		starts = append(starts, at)
	}
	return starts
}

func lineAt(starts []int, at int) int {
	i, _ := slices.BinarySearch(starts, at)
	return i
}

// text joins lines.
func text(lines []string) string { return strings.Join(lines, "") }
