package diff

import (
	"github.com/aymanbagabas/go-udiff/lcs"

	"muster/regress/internal/anchor"
)

// A change replaces old lines [oldFrom, oldTo) by now lines [nowFrom, nowTo).
type change struct{ oldFrom, oldTo, nowFrom, nowTo int }

// exactEdits is the number of inserted and deleted lines up to which lcs finds the shortest script.
// Beyond it lcs gives up, and the rest becomes one large replacement.
const exactEdits = 100

// anchorLevels is the number of levels of anchors. Each level searches the gaps between the anchors
// of the level above.
const anchorLevels = 8

// A matcher collects the changes from old to now, in order.
type matcher struct {
	old, now []string
	changes  []change
}

// compareLines returns the changes from old to now. lcs alone is exact and cheap for few changes.
// With many, anchors guide it: lines that each side has exactly once. One changed habit of a code
// generator makes many changes in every file.
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
	var anchors []anchor.Pair
	if levels > 0 && countEdits(script) > exactEdits {
		anchors = anchor.Between(m.old[r.oldFrom:r.oldTo], m.now[r.nowFrom:r.nowTo])
	}
	if len(anchors) == 0 {
		for _, d := range script {
			m.add(change{r.oldFrom + d.Start, r.oldFrom + d.End, r.nowFrom + d.ReplStart, r.nowFrom + d.ReplEnd})
		}
		return
	}
	next := r
	for _, a := range anchors {
		next.oldTo, next.nowTo = r.oldFrom+a.Old, r.nowFrom+a.Now
		m.match(next, levels-1)
		next.oldFrom, next.nowFrom = next.oldTo+1, next.nowTo+1
	}
	next.oldTo, next.nowTo = r.oldTo, r.nowTo
	m.match(next, levels-1)
}

func countEdits(script []lcs.Diff) (n int) {
	for _, d := range script {
		n += d.End - d.Start + d.ReplEnd - d.ReplStart
	}
	return n
}

// shrink removes equal lines from both ends of a region.
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
