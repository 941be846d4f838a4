package rule

import (
	"bytes"
	"slices"
	"strings"

	"muster/regress/internal/cause/token"
)

// A change is an edit in its normal form: items [from, to) of the old text are replaced by others. Edits that
// do the same have the same change: an insertion that may stand in several places stands at the last of them,
// or better where a line begins.
type change struct {
	from, to int
	now      []item
}

// An item is one of a new text.
type item struct {
	text string
	kind token.Kind // 0 for whitespace
}

// changesOf returns the normal form of an edit that replaces bytes [from, to) of a page. An indent that
// changed beside a replacement is a change of its own.
func changesOf(p *page, from, to int, now []byte) []change {
	c := changeOf(p, from, to, now)
	if c.removesLines(p) {
		return c.splitLines(p)
	}
	if c.to-c.from < 2 || len(c.now) < 2 || !p.isLineBreak(c.from) || !c.beginsLine() {
		return []change{c}
	}
	indent := change{c.from, c.from + 1, c.now[:1]}
	rest := change{c.from + 1, c.to, c.now[1:]}
	for rest.to > rest.from && len(rest.now) > 0 && string(p.item(rest.from)) == rest.now[0].text {
		rest.from, rest.now = rest.from+1, rest.now[1:]
	}
	return []change{indent, rest}
}

func changeOf(p *page, from, to int, now []byte) change {
	a, b := p.itemAt(from), p.itemAt(to)
	a -= a & 1 // the whitespace before and behind belongs to it, until it is seen to stay
	if b&1 == 1 {
		if p.start(b) == to && to >= from {
			b--
		} else {
			b++
		}
	}
	if a > b {
		a = b
	}
	c := change{from: a, to: b + 1}
	text := slices.Concat(p.text[p.start(a):from], now, p.text[to:p.start(b+1)])
	c.now = itemsOf(text)
	for c.to > c.from && len(c.now) > 0 && bytes.Equal(p.item(c.to-1), []byte(c.now[len(c.now)-1].text)) {
		c.to, c.now = c.to-1, c.now[:len(c.now)-1]
	}
	for c.to > c.from && len(c.now) > 0 && bytes.Equal(p.item(c.from), []byte(c.now[0].text)) {
		c.from, c.now = c.from+1, c.now[1:]
	}
	c.slide(p)
	c.keepBlank(p)
	return c
}

// keepBlank changes the removal of a line with the break behind it into one with the break before it. Blank lines
// before it stay.
func (c *change) keepBlank(p *page) {
	if c.from&1 == 1 && len(c.now) == 0 && (c.to-c.from)%2 == 0 && p.isLineBreak(c.from-1) && p.isLineBreak(c.to-1) {
		if blank := p.blank(c.from - 1); bytes.Equal(p.item(c.from - 1)[len(blank):], p.item(c.to-1)) {
			*c = change{c.from - 1, c.to - 1, []item{{text: string(blank)}}}
		}
	}
}

// removesLines reports whether a change removes whole lines, and nothing else.
func (c *change) removesLines(p *page) bool {
	return c.from&1 == 0 && c.to-c.from > 1 && c.to&1 == 0 && p.isLineBreak(c.from) &&
		(c.to/2 >= len(p.tokens) || p.isLineBreak(c.to)) && textOf(c.now) == string(p.blank(c.from))
}

// joinsLines reports whether a change replaces a line break by other whitespace, and nothing else. The indent
// behind the break does not matter then.
func (c *change) joinsLines(p *page) bool {
	return c.from&1 == 0 && c.to-c.from == 1 && p.isLineBreak(c.from) && len(p.blank(c.from)) == 0 && !strings.Contains(textOf(c.now), "\n")
}

// splitLines divides a change that removes lines into one for each, if no blank lines are between them.
func (c *change) splitLines(p *page) (list []change) {
	list = []change{*c}
	for i := c.from + 2; i < c.to; i += 2 {
		if !p.isLineBreak(i) {
			continue
		}
		if len(p.blank(i)) > 0 {
			return []change{*c}
		}
		last := &list[len(list)-1]
		last.to = i
		list = append(list, change{i, c.to, nil})
	}
	return list
}

// itemsOf divides a new text. Its first and its last item are whitespace.
func itemsOf(text []byte) (list []item) {
	at := 0
	for _, t := range token.Append(nil, text, 0, len(text)) {
		list = append(list, item{string(text[t.Gap:t.From]), 0}, item{string(text[t.From:t.To]), t.Kind})
		at = int(t.To)
	}
	return append(list, item{string(text[at:]), 0})
}

// slide moves an insertion, or a deletion, to its last place, or to the last where it begins a line.
func (c *change) slide(p *page) {
	best := *c
	switch {
	case c.from == c.to:
		turn := 0 // items that go from the beginning of the best to its end; once, because they may be many
		for n := 0; n < slideMax && c.from+2*n+1 < p.items() && len(c.now) > 1 && len(c.now)%2 == 0; n++ {
			from, first := c.from+2*n, 2*n%len(c.now)
			if c.now[first].text != string(p.item(from)) || c.now[first+1].text != string(p.item(from+1)) {
				break
			}
			if next := (first + 2) % len(c.now); c.now[next].breaks() || !c.now[turn].breaks() {
				best.from, best.to, turn = from+2, from+2, next
			}
		}
		best.now = slices.Concat(c.now[turn:], c.now[:turn])
	case len(c.now) == 0 && (c.to-c.from)%2 == 0:
		for n := 0; n < slideMax && c.to+1 < p.items(); n++ {
			if p.key(c.from) != p.key(c.to) || p.key(c.from+1) != p.key(c.to+1) {
				break
			}
			c.from, c.to = c.from+2, c.to+2
			if p.isLineBreak(c.from) || !p.isLineBreak(best.from) {
				best = *c
			}
		}
	}
	*c = best
}

// slideMax bounds the steps of a slide.
const slideMax = 64

// beginsLine reports whether an insertion begins with a line break.
func (c *change) beginsLine() bool { return len(c.now) > 0 && c.now[0].breaks() }

// breaks reports whether an item is whitespace with a line break.
func (x *item) breaks() bool { return x.kind == 0 && strings.Contains(x.text, "\n") }

// textOf returns the text of items.
func textOf(items []item) string {
	var b strings.Builder
	for _, x := range items {
		b.WriteString(x.text)
	}
	return b.String()
}
