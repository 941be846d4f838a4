package diff

import (
	"github.com/aymanbagabas/go-udiff/lcs"

	"muster/regress/internal/anchor"
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
	var anchors []anchor.Pair
	if levels > 0 && edits(script) > exactEdits {
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
