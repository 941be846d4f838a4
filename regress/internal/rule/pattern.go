package rule

import (
	"strings"

	"muster/regress/internal/cause/token"
)

// A piece stands for one item. A golden has its fields.
type piece struct {
	Key  uint64     `json:"key,omitempty"` // of a literal item; 0 for a hole
	Hole token.Kind `json:"hole,omitempty"`
}

// What a hole stands for, beside token.Word and token.Number.
const (
	anyGap   token.Kind = 1 // any whitespace, or none
	lineGap  token.Kind = 2 // whitespace with a line break
	anyToken token.Kind = 3
)

// A pattern is a row of items with holes. Items [from, to) of it are replaced, the others are context.
type pattern struct {
	pieces   []piece
	parity   int // of the first item
	from, to int
	empty    bool   // it matches only a text without tokens
	until    uint64 // if not 0, what is replaced goes on to the first token with this key in the line; end: to its last
}

// An output is one item of the new text: literal, or a copy.
type output struct {
	text string
	from source
	at   int
}

// A source is where a copy comes from.
type source byte

const (
	literal   source = iota
	fromSpan         // item at of what is replaced
	fromLeft         // token at before it
	fromRight        // token at behind it
	fromLine         // the whitespace before the line
	fromNext         // the whitespace before the next line
	fromBlank        // what is replaced, up to its last line break: the blank lines before a line
)

// matches reports whether a pattern matches where its first item is i, and returns what is replaced.
func (q *pattern) matches(p *page, i int) (a, b int, ok bool) {
	if q.empty && len(p.tokens) > 0 || i < 0 || i&1 != q.parity || i+len(q.pieces) > p.items() {
		return 0, 0, false
	}
	for n, x := range q.pieces {
		if !fits(p, i+n, x) {
			return 0, 0, false
		}
	}
	a, b = i+q.from, i+q.to
	if q.until == 0 {
		return a, b, true
	}
	if q.until == end && b&1 == 0 && b > a && b/2 <= len(p.tokens) && (b/2 == len(p.tokens) || p.breaks(b/2)) {
		return a, b, true // the line has ended
	}
	for k := b / 2; k < len(p.tokens) && k < b/2+untilMax && (k == b/2 && b&1 == 1 || !p.breaks(k)); k++ {
		last := k+1 == len(p.tokens) || p.breaks(k+1)
		if p.tokens[k].Key == q.until || q.until == end && last {
			return a, 2*k + 2, true
		}
	}
	return 0, 0, false
}

// untilMax bounds the tokens of a hole of any length.
const untilMax = 200

func fits(p *page, i int, x piece) bool {
	switch x.Hole {
	case 0:
		return p.key(i) == x.Key
	case anyGap, anyToken:
		return true
	case lineGap:
		return p.isLineBreak(i)
	}
	return p.tokens[i/2].Kind == x.Hole
}

// render returns the new text of items [a, b), or false if a copy has no source.
func render(p *page, outputs []output, a, b int) (string, bool) {
	var text strings.Builder
	for _, o := range outputs {
		i := -1
		switch o.from {
		case literal:
			text.WriteString(o.text)
			continue
		case fromSpan:
			i = a + o.at
		case fromLeft:
			i = 2*(a/2-1-o.at) + 1
		case fromRight:
			i = 2*(b/2+o.at) + 1
		case fromBlank:
			text.Write(p.blank(a))
			continue
		case fromLine:
			i = lineGapItem(p, a, b, 0)
		case fromNext:
			i = lineGapItem(p, a, b, 1)
		}
		if i < 0 || i >= p.items() {
			return "", false
		}
		text.Write(p.item(i))
	}
	return text.String(), true
}

// lineGapItem returns the whitespace before the line of a place, or before the next one, or -1.
func lineGapItem(p *page, a, b, next int) int {
	cur := p.lineAt(a, b) + next
	if cur < 0 || cur >= len(p.lines) {
		return -1
	}
	return 2 * int(p.lines[cur].from)
}
