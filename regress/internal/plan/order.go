package plan

import (
	"math/bits"
	"slices"
	"time"
)

// short is the longest duration of a case that runs at its place in the corpus. There the folders
// of its neighbours and the source on disk are at hand. At the end of a run nobody waits longer
// than that for the last case.
const short = 64 * time.Millisecond

// Order returns the indexes of the named cases in the order in which they run. Cases in first come
// before all others. Then longer cases come before shorter ones, so that none keeps one lane busy
// when the others have nothing left (Graham's longest processing time first). took is the last
// duration of each case, 0 if unknown; it may be nil. Cases within a factor of two stay in corpus
// order, and so do short ones.
func Order(names []string, first map[string]bool, took []time.Duration) []int {
	type place struct {
		first bool
		class int
	}
	places, ordered := make([]place, len(names)), make([]int, len(names))
	for i, name := range names {
		ordered[i] = i
		p := place{first: first[name]}
		if took != nil {
			p.class = bits.Len64(uint64(max(0, took[i]) / short))
		}
		places[i] = p
	}
	slices.SortStableFunc(ordered, func(a, b int) int {
		p, q := places[a], places[b]
		switch {
		case p.first && !q.first:
			return -1
		case q.first && !p.first:
			return 1
		}
		return q.class - p.class
	})
	return ordered
}
