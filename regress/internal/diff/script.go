package diff

import (
	"slices"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A change says that old lines [oldFrom, oldTo) became now lines [nowFrom, nowTo).
type change struct{ oldFrom, oldTo, nowFrom, nowTo int }

// Up to this many inserted and deleted lines lcs finds the shortest script; it
// gives up beyond, and what it could not tell becomes one large replacement.
const exactEdits = 100

// Each level looks for anchors within the gaps that the level above left.
const anchorLevels = 8

// A matcher collects the changes from old to now, in order.
type matcher struct {
	old, now []string
	changes  []change
}

// compareLines returns how old became now. lcs alone is exact and cheap for
// few changes; with many, which one changed habit of a code generator makes in
// every file, it is led by anchors: lines that each side has exactly once.
func compareLines(old, now []string) []change {
	m := matcher{old: old, now: now}
	m.match(change{0, len(old), 0, len(now)}, anchorLevels)
	return m.changes
}

// match collects the changes within the region r.
func (m *matcher) match(r change, levels int) {
	r = m.shrink(r)
	if r.oldFrom == r.oldTo || r.nowFrom == r.nowTo {
		m.add(r)
		return
	}
	script := lcs.DiffLines(m.old[r.oldFrom:r.oldTo], m.now[r.nowFrom:r.nowTo])
	var anchors []anchor
	if levels > 0 && edits(script) > exactEdits {
		anchors = m.anchors(r)
	}
	if len(anchors) == 0 {
		for _, d := range script {
			m.add(change{r.oldFrom + d.Start, r.oldFrom + d.End, r.nowFrom + d.ReplStart, r.nowFrom + d.ReplEnd})
		}
		return
	}
	for _, a := range anchors {
		m.match(change{r.oldFrom, a.old, r.nowFrom, a.now}, levels-1)
		r.oldFrom, r.nowFrom = a.old+1, a.now+1
	}
	m.match(r, levels-1)
}

func edits(script []lcs.Diff) (n int) {
	for _, d := range script {
		n += d.End - d.Start + d.ReplEnd - d.ReplStart
	}
	return n
}

// shrink takes equal lines off both ends of a region.
func (m *matcher) shrink(r change) change {
	for r.oldFrom < r.oldTo && r.nowFrom < r.nowTo && m.old[r.oldFrom] == m.now[r.nowFrom] {
		r.oldFrom++
		r.nowFrom++
	}
	for r.oldFrom < r.oldTo && r.nowFrom < r.nowTo && m.old[r.oldTo-1] == m.now[r.nowTo-1] {
		r.oldTo--
		r.nowTo--
	}
	return r
}

func (m *matcher) add(c change) {
	if c.oldFrom == c.oldTo && c.nowFrom == c.nowTo {
		return
	}
	if n := len(m.changes); n > 0 {
		if last := &m.changes[n-1]; last.oldTo == c.oldFrom && last.nowTo == c.nowFrom {
			last.oldTo, last.nowTo = c.oldTo, c.nowTo
			return
		}
	}
	m.changes = append(m.changes, c)
}

// An anchor is a pair of equal lines that each side has once.
type anchor struct{ old, now int }

// anchors returns a longest row of anchors of the region that stand in the
// same order on both sides.
func (m *matcher) anchors(r change) []anchor {
	type occurrence struct{ old, now, oldCount, nowCount int32 }
	seen := make(map[string]occurrence)
	for i, line := range m.old[r.oldFrom:r.oldTo] {
		o := seen[line]
		o.old, o.oldCount = int32(r.oldFrom+i), o.oldCount+1
		seen[line] = o
	}
	for i, line := range m.now[r.nowFrom:r.nowTo] {
		// What old does not have cannot be an anchor and needs no room.
		if o, ok := seen[line]; ok {
			o.now, o.nowCount = int32(r.nowFrom+i), o.nowCount+1
			seen[line] = o
		}
	}
	var pairs []anchor
	for _, o := range seen {
		if o.oldCount == 1 && o.nowCount == 1 {
			pairs = append(pairs, anchor{int(o.old), int(o.now)})
		}
	}
	slices.SortFunc(pairs, func(a, b anchor) int { return a.old - b.old })
	return longestAscent(pairs)
}

// longestAscent returns a longest subsequence of pairs, sorted by old, in
// which now ascends too (patience sorting).
func longestAscent(pairs []anchor) []anchor {
	var tops []int // tops[k]: the pair that ends the best ascent of length k+1
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
	ascent := make([]anchor, len(tops))
	if len(tops) == 0 {
		return nil
	}
	for i, k := tops[len(tops)-1], len(tops)-1; i >= 0; i, k = previous[i], k-1 {
		ascent[k] = pairs[i]
	}
	return ascent
}
