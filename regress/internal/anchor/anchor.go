// Package anchor finds what two sequences that differ a lot can be held together by: what
// each of them has exactly once.
//
// It is pure, and does not compare what lies between the anchors: that is for whoever
// asked.
package anchor

import "slices"

// A Pair is an element that both sequences have exactly once, by its index in each.
type Pair struct{ Old, Now int }

// Between returns a longest row of pairs that stand in the same order in both sequences.
// Its time grows like n log n, and its memory with what old has.
func Between[K comparable](old, now []K) []Pair {
	type occurrence struct{ old, now, oldCount, nowCount int32 }
	seen := make(map[K]occurrence, len(old))
	for i, k := range old {
		o := seen[k]
		o.old, o.oldCount = int32(i), o.oldCount+1
		seen[k] = o
	}
	for j, k := range now {
		// What old does not have cannot be an anchor and needs no room.
		if o, known := seen[k]; known {
			o.now, o.nowCount = int32(j), o.nowCount+1
			seen[k] = o
		}
	}
	var pairs []Pair
	for i, k := range old {
		if o := seen[k]; o.oldCount == 1 && o.nowCount == 1 {
			pairs = append(pairs, Pair{i, int(o.now)})
		}
	}
	return longestAscent(pairs)
}

// longestAscent returns a longest part of pairs, which ascend by Old, in which Now ascends
// too (patience sorting).
func longestAscent(pairs []Pair) []Pair {
	var tops []int // tops[k]: the pair that ends the best ascent of length k+1
	previous := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(tops, p.Now, func(top, now int) int { return pairs[top].Now - now })
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
	ascent := make([]Pair, len(tops))
	for i, k := tops[len(tops)-1], len(tops)-1; i >= 0; i, k = previous[i], k-1 {
		ascent[k] = pairs[i]
	}
	return ascent
}
