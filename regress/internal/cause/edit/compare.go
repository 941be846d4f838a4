package edit

import (
	"bytes"
	"slices"
)

// Compare compares two texts. w numbers the patterns of the edits, and their neighbours.
func (s *Comparer) Compare(old, now []byte, w *Words) Edits {
	t := newText(old, now, w, s)
	t.compare()
	if t.extents == nil && !t.isExact() {
		e := ReplaceAll(old, now, w.Add(wholePattern))
		e.Changed = t.changed
		return e
	}
	t.matchRewraps()
	t.matchRenumbered()
	t.matchMoves()
	t.matchBrackets()
	e := Edits{Places: slices.Clip(t.places), Cuts: slices.Clip(t.cuts), Changed: t.changed}
	if t.extents != nil {
		e.keepPatterns(t.extents)
	}
	return e
}

// compare finds the edits of a text, in order.
func (t *text) compare() {
	from, oldTo, nowTo := trim(t.old, t.now)
	if from == oldTo && from == nowTo || compareDocuments(t) {
		return
	}
	t.counter = lineCounter{t.now, from, int32(bytes.Count(t.now[:from], newline))}
	t.compareRange(Span{from, oldTo}, Span{from, nowTo})
}

// compareRange finds the edits between ranges of both sides.
func (t *text) compareRange(old, now Span) {
	s := t.scratch
	s.oldLines = splitLines(s.oldLines, t.old, old.From, old.To)
	s.nowLines = splitLines(s.nowLines, t.now, now.From, now.To)
	s.a, s.b = keysOf(s.a, s.oldLines), keysOf(s.b, s.nowLines)
	t.compareLines()
}

// keepPatterns keeps one place of each pattern.
func (e *Edits) keepPatterns(extents map[int32]extent) {
	known := map[int32]bool{}
	e.TooMany, e.Cuts = true, nil
	e.Places = slices.Clone(slices.DeleteFunc(e.Places, func(q Place) bool {
		again := known[q.Pattern]
		known[q.Pattern] = true
		return again
	}))
	for i := range e.Places {
		e.Places[i].Cut, e.Places[i].Lines = -1, extents[e.Places[i].Pattern].lines
	}
}
