package rule

import (
	"slices"
	"strings"

	"muster/regress/internal/cause/token"
)

// A candidate is a way to generalise a change.
type candidate struct {
	pattern
	outputs []output
	level   int // the lower, the more specific it is
}

// candidatesOf returns ways to generalise a change, from specific to general.
func candidatesOf(p *page, c change) (list []candidate) {
	for level, l := range [...]struct{ outputs, pieces int }{{0, 0}, {1, 1}, {2, 1}, {2, 2}} {
		q := candidate{level: level}
		q.outputs = outputsOf(p, c, l.outputs)
		joins := c.joinsLines(p)
		if level > 0 && !slices.ContainsFunc(q.outputs, func(o output) bool { return o.from != literal }) && c.to-c.from < 2 && (!joins || level > 1) {
			continue
		}
		q.parity, q.to = c.from&1, c.to-c.from
		removes := c.removesLines(p)
		if removes {
			q.outputs = []output{{from: fromBlank}}
		}
		for i := c.from; i < c.to && i < c.from+piecesMax; i++ {
			q.pieces = append(q.pieces, pieceOf(p, i, l.pieces, isCopied(q.outputs, i-c.from)))
		}
		if (removes || joins && level > 0) && len(q.pieces) > 0 {
			q.pieces[0] = piece{Hole: lineGap}
		}
		if c.to-c.from > piecesMax {
			break
		}
		if c.to-c.from > 1 || c.to > c.from && c.from&1 == 1 {
			list = append(list, q)
			continue
		}
		list = append(list, anchoredCandidates(p, q, c)...)
	}
	return append(list, openCandidates(p, c)...)
}

// piecesMax bounds what is replaced, in items.
const piecesMax = 60

func isCopied(outputs []output, at int) bool {
	return slices.ContainsFunc(outputs, func(o output) bool { return o.from == fromSpan && o.at == at })
}

// pieceOf returns the piece for an item.
func pieceOf(p *page, i, level int, copied bool) piece {
	if i&1 == 0 {
		if level > 0 && copied && p.isLineBreak(i) {
			return piece{Hole: lineGap}
		}
		return piece{Key: p.key(i)}
	}
	kind := p.tokens[i/2].Kind
	if kind == token.Sign || level == 0 || level == 1 && !copied {
		return piece{Key: p.key(i)}
	}
	return piece{Hole: kind}
}

// outputsOf returns the new items of a change. From level 1 on, those are copies that what is replaced has,
// and on level 2 also those that stand beside it.
func outputsOf(p *page, c change, level int) (list []output) {
	for _, x := range c.now {
		list = append(list, outputOf(p, x, c, level))
	}
	return list
}

func outputOf(p *page, x item, c change, level int) output {
	o := output{text: x.text}
	if level == 0 || x.kind == token.Sign || x.text == "" {
		return o
	}
	if x.kind == 0 {
		if !strings.Contains(x.text, "\n") {
			return o
		}
		for i := c.from; i < c.to; i++ {
			if i&1 == 0 && string(p.item(i)) == x.text {
				return output{from: fromSpan, at: i - c.from}
			}
		}
		for next, from := range [...]source{fromLine, fromNext} {
			if i := lineGapItem(p, c.from, c.to, next); i >= 0 && string(p.item(i)) == x.text {
				return output{from: from}
			}
		}
		return o
	}
	for i := c.from; i < c.to; i++ {
		if i&1 == 1 && string(p.item(i)) == x.text {
			return output{from: fromSpan, at: i - c.from}
		}
	}
	if level < 2 {
		return o
	}
	for n := range besideMax {
		if i := 2*(c.from/2-1-n) + 1; i > 0 && string(p.item(i)) == x.text {
			return output{from: fromLeft, at: n}
		}
		if i := 2*(c.to/2+n) + 1; i < p.items() && string(p.item(i)) == x.text {
			return output{from: fromRight, at: n}
		}
	}
	return o
}

// besideMax is how many tokens beside a place are looked at for copies.
const besideMax = 4

// anchoredCandidates returns candidates for a change that replaces no token: with the token before, with the token
// behind, and where a line begins or ends.
func anchoredCandidates(p *page, q candidate, c change) (list []candidate) {
	l, r := 2*(c.from/2-1)+1, 2*(c.to/2)+1
	if len(p.tokens) == 0 && c.from == c.to { // nothing but whitespace, or nothing at all
		q.parity, q.from, q.to, q.pieces, q.empty = 0, c.from, c.from, []piece{{Key: p.key(0)}}, true
		return []candidate{q}
	}
	if l > 0 {
		left := q
		left.parity, left.pieces = 1, []piece{{Key: p.key(l)}}
		if c.from&1 == 1 {
			left.pieces = append(left.pieces, piece{Hole: anyGap})
		}
		left.from = len(left.pieces)
		left.to = left.from + len(q.pieces)
		left.pieces = append(left.pieces, q.pieces...)
		list = append(list, left)
	}
	if r < p.items() {
		right := q
		right.pieces = slices.Clone(q.pieces)
		if c.to&1 == 0 {
			right.pieces = append(right.pieces, piece{Hole: anyGap})
		}
		right.pieces = append(right.pieces, piece{Key: p.key(r)})
		list = append(list, right)
	}
	q.level++
	switch edge := (c.to / 2) * 2; {
	case c.to > c.from:
		if p.isLineBreak(c.from) {
			list = append(list, q)
		}
	case !p.isLineBreak(edge):
	case c.from&1 == 0: // the end of a line
		q.pieces = []piece{{Hole: lineGap}}
		list = append(list, q)
	default:
		q.parity, q.from, q.to, q.pieces = 0, 1, 1, []piece{{Hole: lineGap}}
		list = append(list, q)
	}
	return list
}

// openCandidates returns candidates for a change that removes or replaces a long piece of a line: what it begins
// with and ends with is kept, all else is a hole.
func openCandidates(p *page, c change) (list []candidate) {
	first, last := (c.from+1)/2, c.to/2-1
	if c.to&1 == 1 || last < first || last-first >= untilMax || len(c.now) > 2 {
		return nil
	}
	for k := first + 1; k <= last; k++ {
		if p.breaks(k) {
			return nil
		}
	}
	q := candidate{level: 4, outputs: outputsOf(p, c, 0)}
	q.parity = c.from & 1
	if q.parity == 0 {
		q.pieces = []piece{pieceOf(p, c.from, 1, true)}
	}
	removes := c.removesLines(p)
	if removes {
		q.outputs = []output{{from: fromBlank}}
	}
	if last > first {
		q.pieces = append(q.pieces, piece{Key: p.key(2*first + 1)})
		q.to = len(q.pieces)
		q.until = p.tokens[last].Key
		list = append(list, q)
	}
	if removes { // a whole line, whatever is in it
		q.pieces, q.to, q.until, q.level = []piece{{Hole: lineGap}}, 1, end, 6
		list = append(list, q)
		q.pieces, q.to, q.level = []piece{{Hole: lineGap}, {Key: p.key(2*first + 1)}}, 2, 5
		list = append(list, q)
	}
	return list
}

// id returns a text that is the same for equal candidates.
func (q *candidate) id() string {
	var b []byte
	add := func(n uint64) {
		for range 8 {
			b, n = append(b, byte(n)), n>>8
		}
	}
	b = append(b, byte(q.parity), byte(q.from), byte(q.to))
	add(q.until)
	for _, x := range q.pieces {
		b = append(b, byte(x.Hole))
		add(x.Key)
	}
	for _, o := range q.outputs {
		b = append(b, byte(o.from), byte(o.at))
		b = append(append(b, o.text...), 0)
	}
	return string(b)
}
