package hole

import (
	"strings"
)

// Marked returns the first text with a mark in place of each hole, for people and for a search of
// causes. Lines and words in another order stay as they are. A whole pattern has no marks.
func (p *Pattern) Marked() []byte {
	if p.whole {
		return p.first
	}
	var b strings.Builder
	for i := range p.elements {
		b.WriteString(p.elements[i].marked())
	}
	return []byte(b.String())
}

// marked returns the lines of the first text with marks for the holes.
func (e *element) marked() string {
	switch e.kind {
	case varied:
		return markPieces(e.pieces, e.lines[0])
	case anything:
		return Free.mark() + "\n"
	}
	return text(e.lines)
}

// A patch replaces lines [from, to) of a text.
type patch struct {
	from, to int
	by       string
}

// Fill returns a text in which everything that fits a hole reads as in Marked. Then only the rest
// differs from Marked.
func (p *Pattern) Fill(now []byte) []byte {
	if p.whole {
		return now
	}
	o := compareWith(p.first, now)
	var b strings.Builder
	at := 0
	for i := range p.elements {
		e := &p.elements[i]
		if e.kind == fixed {
			continue
		}
		one, fits := o.patch(e, at)
		if !fits || one.from < at {
			continue
		}
		b.WriteString(text(o.lines[at:one.from]))
		b.WriteString(one.by)
		at = one.to
	}
	b.WriteString(text(o.lines[at:]))
	return []byte(b.String())
}

// patch finds the lines of the other text that fit an element, from a line on.
func (o *other) patch(e *element, at int) (found patch, fits bool) {
	from, to := e.from, e.from+len(e.lines)
	for _, c := range o.changes {
		if e.kind == varied && c.OldFrom <= from && to <= c.OldTo {
			return o.search(e, max(at, c.NowFrom), c.NowTo)
		}
		if c.OldFrom < from && from < c.OldTo || c.OldFrom < to && to < c.OldTo {
			return found, false // a border of the element is within a change
		}
	}
	found = patch{o.startOf(from), o.endOf(to), e.marked()}
	return found, e.kind == anything || found.to-found.from == len(e.lines) && e.fits(o.lines[found.from:found.to])
}

// search finds the first line within a range that fits an element of one line.
func (o *other) search(e *element, from, to int) (found patch, fits bool) {
	for i := from; i < to; i++ {
		if e.fits(o.lines[i : i+1]) {
			return patch{i, i + 1, e.marked()}, true
		}
	}
	return found, false
}
