package regress

import (
	"muster/regress/internal/state"
)

// byName returns the lines of a journal by the names of their cases.
func byName(lines []state.Line) map[string]state.Line {
	m := make(map[string]state.Line, len(lines))
	for _, l := range lines {
		m[string(l.Name)] = l
	}
	return m
}
