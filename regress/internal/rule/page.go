package rule

import (
	"bytes"
	"path"
	"slices"

	"muster/regress/internal/cause/token"
)

// A page is a text as a row of items. Item 2k is the whitespace before token k, which may be empty, and item
// 2k+1 is token k. The last item is the whitespace behind the last token.
type page struct {
	text    []byte
	part    uint64 // the key of its sort: a stream, or the extension of a file
	source  uint64 // the key of the extension of the case's name
	tokens  []token.Token
	gaps    []uint64 // keys of the even items
	lines   []line
	lineOf  []int32 // of each token
	quotes  []byte  // for each token the quote that is open before it, on this line or one before, * for a comment, or 0
	breakAt []int32 // where line breaks are, once lineNumber was asked
	within  []int32 // for each token the innermost bracket before it that is open there, or -1
}

// A line is a line that is not blank.
type line struct {
	from, to   int32 // tokens
	key, shape uint64
	parent     int32 // the last line before it with a smaller indent, or -1
}

// newPage divides the text of a part of a case.
func newPage(caseName, part string, text []byte) *page {
	sort := path.Ext(part)
	if sort == "" {
		sort = part
	}
	p := &page{text: text, part: keyOf([]byte(sort)), source: keyOf([]byte(path.Ext(caseName))), tokens: token.Append(nil, text, 0, len(text))}
	p.gaps = make([]uint64, len(p.tokens)+1)
	p.lineOf, p.within = make([]int32, len(p.tokens)), make([]int32, len(p.tokens))
	for i := range p.gaps {
		p.gaps[i] = keyOf(p.item(2 * i))
	}
	p.findLines()
	p.findBrackets()
	p.findQuotes()
	return p
}

func keyOf(b []byte) uint64 {
	key := uint64(token.KeySeed)
	for _, c := range b {
		key = (key ^ uint64(c)) * token.KeyPrime
	}
	return token.Mix(key)
}

// join combines keys.
func join(a, b uint64) uint64 {
	a = (a ^ b) * 0x9e3779b97f4a7c15
	return a ^ a>>31
}

// items returns the number of items.
func (p *page) items() int { return 2*len(p.tokens) + 1 }

// start returns the byte where an item begins. items() begins at the end.
func (p *page) start(item int) int {
	k := item / 2
	switch {
	case item >= p.items():
		return len(p.text)
	case item&1 == 1:
		return int(p.tokens[k].From)
	case k < len(p.tokens):
		return int(p.tokens[k].Gap)
	case k > 0:
		return int(p.tokens[k-1].To)
	}
	return 0
}

// item returns the text of an item.
func (p *page) item(i int) []byte { return p.text[p.start(i):p.start(i+1)] }

// key returns the key of an item.
func (p *page) key(i int) uint64 {
	if i&1 == 1 {
		return p.tokens[i/2].Key
	}
	return p.gaps[i/2]
}

// breaks reports whether a line begins with a token. It needs no look at the whitespace, which may be long.
func (p *page) breaks(k int) bool { return p.lines[p.lineOf[k]].from == int32(k) }

// findLines finds the lines, and the lines that they are below.
func (p *page) findLines() {
	type header struct{ indent, line int32 }
	var open []header
	for k := range p.tokens {
		if gap := p.item(2 * k); k == 0 || bytes.IndexByte(gap, '\n') >= 0 {
			indent := int32(len(gap) - 1 - bytes.LastIndexByte(gap, '\n'))
			for len(open) > 0 && open[len(open)-1].indent >= indent {
				open = open[:len(open)-1]
			}
			l := line{from: int32(k), parent: -1, key: token.KeySeed, shape: token.KeySeed}
			if len(open) > 0 {
				l.parent = open[len(open)-1].line
			}
			open = append(open, header{indent, int32(len(p.lines))})
			p.lines = append(p.lines, l)
		}
		l := &p.lines[len(p.lines)-1]
		l.to = int32(k) + 1
		l.key, l.shape = join(l.key, p.tokens[k].Key), join(l.shape, p.classOf(k))
		p.lineOf[k] = int32(len(p.lines) - 1)
	}
}

// classOf returns the class of a token: a sign is its own class.
func (p *page) classOf(k int) uint64 {
	if p.tokens[k].Kind == token.Sign {
		return p.tokens[k].Key
	}
	return uint64(p.tokens[k].Kind)
}

// findBrackets finds the innermost open bracket at each token.
func (p *page) findBrackets() {
	open := []int32{-1}
	for k, t := range p.tokens {
		p.within[k] = open[len(open)-1]
		if t.To-t.From != 1 {
			continue
		}
		switch p.text[t.From] {
		case '(', '[', '{':
			open = append(open, int32(k))
		case ')', ']', '}':
			open = open[:max(1, len(open)-1)]
			p.within[k] = open[len(open)-1]
		}
	}
}

// findQuotes finds the quotes and comments that are open at each token. A comment to the end of its line opens none.
func (p *page) findQuotes() {
	p.quotes = make([]byte, len(p.tokens))
	var open byte
	remark := false
	for k, t := range p.tokens {
		remark = remark && !p.breaks(k)
		p.quotes[k] = open
		c, one := p.text[t.From], t.To-t.From == 1
		switch {
		case remark, t.From > 0 && p.text[t.From-1] == '\\':
		case open == '*':
			if !one && c == '*' && p.text[t.From+1] == '/' {
				open = 0
			}
		case open != 0:
			if one && c == open {
				open = 0
			}
		case !one && c == '/' && p.text[t.From+1] == '*':
			open = '*'
		case one && (c == '"' || c == '\'' || c == '`'):
			open = c
		case one && c == '#' && (k == 0 || t.Gap < t.From), !one && c == '/' && p.text[t.From+1] == '/':
			remark = true
		}
	}
}

// itemAt returns the last item that begins at or before a byte and is not empty, or the last item.
func (p *page) itemAt(at int) int {
	low, high := 0, len(p.tokens) // the first token that ends behind at
	for low < high {
		if mid := (low + high) / 2; int(p.tokens[mid].To) > at {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low < len(p.tokens) && int(p.tokens[low].From) <= at {
		return 2*low + 1
	}
	return 2 * low
}

// isLineBreak reports whether an item is whitespace with a line break.
func (p *page) isLineBreak(i int) bool { return i&1 == 0 && bytes.IndexByte(p.item(i), '\n') >= 0 }

// blank returns the whitespace before the last line break in an item.
func (p *page) blank(i int) []byte {
	gap := p.item(i)
	return gap[:max(0, bytes.LastIndexByte(gap, '\n'))]
}

// lineAt returns the line that a place is in, or -1.
func (p *page) lineAt(a, b int) int {
	k := a / 2
	if a&1 == 0 && (b == a || !p.isLineBreak(a)) {
		k--
	}
	if k = min(max(k, 0), len(p.tokens)-1); k < 0 {
		return -1
	}
	return int(p.lineOf[k])
}

// lineNumber returns the line of an item, from 1. Whitespace that begins a line is in that line.
func (p *page) lineNumber(item int) int {
	if p.isLineBreak(item) {
		item++
	}
	if p.breakAt == nil {
		p.breakAt = make([]int32, 0, 1)
		for at, c := range p.text {
			if c == '\n' {
				p.breakAt = append(p.breakAt, int32(at))
			}
		}
	}
	n, _ := slices.BinarySearch(p.breakAt, int32(p.start(item)))
	return 1 + n
}
