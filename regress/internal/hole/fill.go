package hole

import (
	"strings"

	"muster/regress/internal/diff"
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
	case shuffled:
		return e.all.marked(e.lines)
	}
	return text(e.lines)
}

// A patch replaces lines [from, to) of a text.
type patch struct {
	from, to int
	by       string // has marks
	isPart   bool   // only some holes of the line fit
}

// Fill returns a text in which everything that fits a hole reads as in Marked. Then only the rest
// differs from Marked.
func (p *Pattern) Fill(now []byte) []byte { return p.fill(now, true) }

// Transplant returns a text in which everything that fits a hole reads as in the first text: the text
// of a changed tool, had it run when the first text was written. A whole pattern changes nothing.
func (p *Pattern) Transplant(now []byte) []byte { return p.fill(now, false) }

func (p *Pattern) fill(now []byte, marks bool) []byte {
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
		if i+1 < len(p.elements) && e.kind == anything && p.elements[i+1].kind == varied {
			one, fits = o.patchBefore(e, &p.elements[i+1], at)
		}
		if !fits || one.from < at || !marks && one.isPart {
			continue
		}
		b.WriteString(text(o.lines[at:one.from]))
		if marks {
			b.WriteString(one.by)
		} else {
			b.WriteString(text(e.lines))
		}
		at = one.to
	}
	b.WriteString(text(o.lines[at:]))
	return []byte(b.String())
}

// patch finds the lines of the other text that fit an element, from a line on.
func (o *other) patch(e *element, at int) (found patch, fits bool) {
	to := e.from + len(e.lines)
	if e.kind == anything {
		found = patch{from: o.startOf(e.from), to: o.endOf(to), by: e.marked()}
		return found, !o.within(e.from) && !o.within(to)
	}
	from, end := o.around(e.from, to)
	for from = max(at, from); from+len(e.lines) <= end && o.missed <= searchMax; from++ {
		lines := o.lines[from : from+len(e.lines)]
		if e.fits(lines) {
			return patch{from: from, to: from + len(e.lines), by: e.marked()}, true
		}
		for _, line := range lines {
			o.missed += len(line)
		}
	}
	if e.kind == varied {
		return o.patchPartly(e, at)
	}
	return found, false
}

// patchBefore finds the lines of the other text that come and go before the line of the next element, from a line on.
func (o *other) patchBefore(e, next *element, at int) (found patch, fits bool) {
	from, end := o.around(e.from, next.from+1)
	from = max(at, from)
	for to := from; to < end; to++ {
		if next.fits(o.lines[to : to+1]) {
			return patch{from: from, to: to, by: e.marked()}, true
		}
	}
	return found, false
}

// patchPartly marks the holes that fit at both ends of the line that replaces an element of one
// line, if the change has as many lines on both sides.
func (o *other) patchPartly(e *element, at int) (found patch, fits bool) {
	c, _ := o.reaching(e.from + 1)
	line := c.NowFrom + e.from - c.OldFrom
	if c.OldFrom <= e.from && e.from < c.OldTo && c.OldTo-c.OldFrom == c.NowTo-c.NowFrom && line >= at {
		return patch{line, line + 1, markPartly(e.pieces, o.lines[line]), true}, true
	}
	return found, false
}

// searchMax bounds the bytes that are compared in vain to find the elements in a text. The line in the same
// place may still fit in part.
const searchMax = 1 << 21

// within reports whether a line of the first text is within a change.
func (o *other) within(line int) bool {
	c, found := o.reaching(line + 1)
	return found && c.OldFrom < line
}

// around returns the range of the other text that may belong to lines [from, to) of the first one,
// with the changes that touch them.
func (o *other) around(from, to int) (a, b int) {
	a, b = o.startOf(from), o.endOf(to)
	if c, found := o.reaching(from); found && c.OldFrom <= from {
		a = c.NowFrom
	}
	if i := o.search(func(c diff.Change) bool { return c.OldFrom > to }); i > 0 && o.changes[i-1].OldTo >= to {
		b = o.changes[i-1].NowTo
	}
	return a, b
}
