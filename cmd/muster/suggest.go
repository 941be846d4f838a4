package main

import (
	"cmp"
	"fmt"
	"slices"
)

// nearest suggests the known name that is fewest edits away, if that is few.
func nearest(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	best := slices.MinFunc(known, func(a, b string) int { return cmp.Compare(edits(name, a), edits(name, b)) })
	if edits(name, best) > max(2, len(name)/3) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// secretHint is for a name that would put the engine's token where others can read it.
func secretHint(name string) string {
	if name != "remote-token" {
		return ""
	}
	return " (a token is taken from " + remoteTokenVariable + " alone)"
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j]+1, row[j+1]+1, substituted)
		}
	}
	return row[len(b)]
}
