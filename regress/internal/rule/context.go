package rule

import (
	"bytes"
)

// contextKinds is the number of facts about the surroundings of a place.
const contextKinds = 49

// A context has the facts about one place, each as a key: the kind of fact is the index. 0 is an absent fact.
type context [contextKinds]uint64

// end is the key beyond both ends of a text.
const end = 0x51ed270b

// tokenKey returns the key of a token, also beyond the ends.
func tokenKey(p *page, k int) uint64 {
	if k < 0 || k >= len(p.tokens) {
		return end
	}
	return p.tokens[k].Key
}

func tokenClass(p *page, k int) uint64 {
	if k < 0 || k >= len(p.tokens) {
		return end
	}
	return p.classOf(k)
}

// contextOf returns the facts about items [a, b). nth counts the like places before it in the page.
func contextOf(p *page, a, b, nth int) (c context) {
	l, r := a/2-1, b/2 // tokens before and behind
	c[0], c[1] = tokenKey(p, l), tokenKey(p, r)
	c[2], c[3] = join(c[0], tokenKey(p, l-1)), join(c[1], tokenKey(p, r+1))
	c[4], c[5] = tokenKey(p, l-1), tokenKey(p, r+1)
	c[6], c[7] = join(c[2], tokenKey(p, l-2)), join(c[3], tokenKey(p, r+2))
	c[8], c[9] = tokenClass(p, l), tokenClass(p, r)
	c[10], c[11] = join(c[8], tokenClass(p, l-1)), join(c[9], tokenClass(p, r+1))
	c[12], c[13] = gapClass(p, l+1), gapClass(p, r)
	c[14] = join(c[8], c[9])
	c[15] = join(c[0], c[1])
	cur := p.lineAt(a, b)
	if cur >= 0 {
		lineContext(p, &c, cur, l, r)
	}
	if at := min(max(l, 0)+1, len(p.tokens)-1); at >= 0 {
		if in := p.within[at]; in >= 0 {
			c[16] = join(tokenKey(p, int(in)), tokenKey(p, int(in)-1))
			c[17] = tokenKey(p, int(in))
			if out := p.within[in]; out >= 0 {
				c[40] = join(tokenKey(p, int(out)), tokenKey(p, int(out)-1))
			}
		} else {
			c[16], c[17] = end, end
		}
	}
	c[18] = uint64(min(nth, 2)) + 1
	c[46], c[48] = p.part, p.source
	if at := min(max(l+1, 0), len(p.tokens)-1); at >= 0 {
		c[47] = uint64(p.quotes[at]) + 1
	}
	holeContext(p, &c, a, b, l, r)
	return c
}

// lineContext adds the facts about the line and its neighbours.
func lineContext(p *page, c *context, cur, l, r int) {
	n := &p.lines[cur]
	c[19] = tokenKey(p, int(n.from))
	c[20] = join(c[19], tokenKey(p, int(n.from)+1))
	c[21] = tokenKey(p, int(n.to)-1)
	c[22], c[23] = n.shape, n.key
	c[24], c[25], c[26], c[27] = end, end, end, end
	if cur > 0 {
		b := &p.lines[cur-1]
		c[24], c[25] = tokenKey(p, int(b.from)), b.shape
		c[26], c[27] = b.key, tokenKey(p, int(b.to)-1)
	}
	c[28], c[29], c[30] = end, end, end
	if cur+1 < len(p.lines) {
		b := &p.lines[cur+1]
		c[28], c[29], c[30] = tokenKey(p, int(b.from)), b.shape, b.key
	}
	c[31] = uint64(min(cur, 4)) + 1
	c[32] = uint64(min(len(p.lines)-cur, 4))
	c[33], c[34] = end, end
	if n.parent >= 0 {
		b := &p.lines[n.parent]
		c[33] = tokenKey(p, int(b.from))
		c[34] = join(c[33], tokenKey(p, int(b.from)+1))
	}
	c[35] = quoteAt(p, int(n.from), l+1)
	c[36] = uint64(min(max(0, l+1-int(n.from)), 6)) + 1 // the column, in tokens
	c[41] = p.gaps[int(n.from)]
	if int(n.to) < len(p.tokens) {
		c[42] = p.gaps[int(n.to)]
	}
	c[43] = uint64(min(max(0, int(n.to)-r), 6)) + 1
	c[44] = join(c[19], c[1])
	c[45] = join(c[19], c[0])
}

// holeContext adds the facts about what is replaced: its tokens, and whether they are those beside it.
func holeContext(p *page, c *context, a, b, l, r int) {
	first, last := (a+1)/2, b/2-1
	if b&1 == 1 {
		last = (b - 1) / 2
		if last*2+1 >= b {
			last--
		}
	}
	if first > last {
		return
	}
	c[37], c[38] = tokenKey(p, first), tokenKey(p, last)
	c[39] = 1
	for k := first; k <= min(last, first+5); k++ {
		if tokenKey(p, k) == tokenKey(p, l) {
			c[39] |= 2 << (k - first)
		}
		if tokenKey(p, k) == tokenKey(p, r) {
			c[39] |= 256 << (k - first)
		}
	}
}

// gapClass returns the class of the whitespace before a token.
func gapClass(p *page, k int) uint64 {
	g := p.item(2 * k)
	switch n := bytes.Count(g, []byte("\n")); {
	case n > 1:
		return 1
	case n == 1:
		return 2
	case len(g) == 0:
		return 3
	case len(g) == 1 && g[0] == ' ':
		return 4
	}
	return 5
}

// quoteAt returns whether a token is in a string or a comment, by the signs before it in the line.
func quoteAt(p *page, from, to int) uint64 {
	var open byte
	for k := from; k < to && k-from < quotedMax; k++ {
		t := p.tokens[k]
		c := p.text[t.From]
		switch {
		case open != 0:
			if t.To-t.From == 1 && c == open && p.text[t.From-1] != '\\' {
				open = 0
			}
		case t.To-t.From == 1 && (c == '"' || c == '\'' || c == '`'):
			open = c
		case c == '#' || c == '/' && t.To-t.From == 2 && (p.text[t.From+1] == '/' || p.text[t.From+1] == '*'):
			return 9
		}
	}
	return uint64(open) + 10
}

// quotedMax bounds the tokens that are read for that.
const quotedMax = 200
