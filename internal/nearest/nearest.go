// Package nearest finds known names that resemble a misspelt one. It is pure and must not know
// what the names stand for.
package nearest

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// nameMax is the length of the longest name that is compared, in bytes. Comparing two names
// takes time in proportion to the product of their lengths.
const nameMax = 256

// beginningMin is the length of the shortest beginning of a name that suggests it, in bytes.
const beginningMin = 3

// Names returns up to n of the known names, the nearest first. A known name qualifies if its
// last path element equals name, if few edits turn it into name, or if it begins with name.
func Names(name string, known []string, n int) []string {
	limit := max(2, len(name)/3)
	if len(name) > nameMax {
		return nil
	}
	type candidate struct {
		name  string
		edits int
	}
	var near []candidate
	for _, k := range known {
		if path.Base(k) == name {
			near = append(near, candidate{k, 0})
		} else if len(name) >= beginningMin && (strings.HasPrefix(k, name) || strings.HasPrefix(path.Base(k), name)) {
			near = append(near, candidate{k, len(k) - len(name)})
		} else if abs(len(k)-len(name)) <= limit {
			if e := edits(name, k); e <= limit && e < max(len(name), len(k)) { // at least one byte matches
				near = append(near, candidate{k, e})
			}
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.edits, b.edits) })
	var names []string
	for _, c := range near[:min(n, len(near))] {
		names = append(names, c.name)
	}
	return names
}

func abs(n int) int { return max(n, -n) }

// edits returns the Levenshtein distance.
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
