package name

import (
	"fmt"
	"strings"

	"muster/internal/nearest"
	"muster/internal/readable"
)

// First returns at most the first most names.
func First(names []string, most int) []string { return names[:min(most, len(names))] }

// List prints the first names, separated by commas, and counts the others.
func List(names []string, most int) string {
	var printed []string
	for _, n := range First(names, most) {
		printed = append(printed, Print(n))
	}
	text := strings.Join(printed, ", ")
	if more := len(names) - len(printed); more > 0 {
		text += fmt.Sprintf(" and %s more", readable.Number(more))
	}
	return text
}

// nearMax bounds the names that Near suggests.
const nearMax = 3

// Near returns the known names nearest to an unknown one, as " (did you mean A, B?)", or "" if no
// name is near.
func Near(raw string, known []string) string {
	var words []string
	for _, n := range nearest.Names(raw, known, nearMax) {
		words = append(words, Typed(n))
	}
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", strings.Join(words, ", "))
}

// PrintAll returns the printed form of each name.
func PrintAll(raw []string) []string {
	names := make([]string, len(raw))
	for i, r := range raw {
		names[i] = Print(r)
	}
	return names
}
