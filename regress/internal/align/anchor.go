package align

import "slices"

// An anchor is an element that both sequences have exactly once, as its index in each.
type anchor struct{ old, now int }

// anchors returns a longest list of anchors with the same order in both sequences. Its time grows
// like n log n, and its memory with the size of old.
func anchors[K comparable](old, now []K) []anchor {
	type occurrence struct{ old, now, oldCount, nowCount int32 }
	seen := make(map[K]occurrence, len(old))
	for i, k := range old {
		o := seen[k]
		o.old, o.oldCount = int32(i), o.oldCount+1
		seen[k] = o
	}
	for j, k := range now {
		// An element that old lacks cannot be an anchor and needs no entry.
		if o, known := seen[k]; known {
			o.now, o.nowCount = int32(j), o.nowCount+1
			seen[k] = o
		}
	}
	var pairs []anchor
	for i, k := range old {
		if o := seen[k]; o.oldCount == 1 && o.nowCount == 1 {
			pairs = append(pairs, anchor{i, int(o.now)})
		}
	}
	return longestAscent(pairs)
}

// longestAscent returns a longest subsequence of pairs in which now ascends too (patience sorting).
// pairs ascend by old.
func longestAscent(pairs []anchor) []anchor {
	var tops []int // tops[k]: the last pair of the best ascent of length k+1
	previous := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tops, p.now, func(top, now int) int { return pairs[top].now - now })
		previous[i] = -1
		if k > 0 {
			previous[i] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, i)
		} else {
			tops[k] = i
		}
	}
	if len(tops) == 0 {
		return nil
	}
	ascent := make([]anchor, len(tops))
	for i, k := tops[len(tops)-1], len(tops)-1; i >= 0; i, k = previous[i], k-1 {
		ascent[k] = pairs[i]
	}
	return ascent
}
