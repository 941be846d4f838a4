package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ParseLine parses a line of Go's benchmark format: a name, a number of operations, and pairs
// of a figure and its unit.
func ParseLine(text string) (Sample, error) {
	fields := strings.Fields(text)
	if len(fields) < 4 || len(fields)%2 != 0 || !strings.HasPrefix(fields[0], prefix) {
		return Sample{}, fmt.Errorf("%q is not a benchmark line", Excerpt(text))
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil || n < 1 {
		return Sample{}, fmt.Errorf("%q is not a benchmark line: %q is not a number of operations", Excerpt(text), Excerpt(fields[1]))
	}
	s := Sample{Name: strings.TrimPrefix(fields[0], prefix), N: n}
	for pair := range slices.Chunk(fields[2:], 2) {
		v, err := strconv.ParseFloat(pair[0], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Sample{}, fmt.Errorf("%q is not a benchmark line: %q is not a number", Excerpt(text), Excerpt(pair[0]))
		}
		s.Values = append(s.Values, Value{pair[1], v})
	}
	return s, nil
}

// Excerpt returns at most the first 200 bytes of a text, for messages.
func Excerpt(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
