package shrink

import (
	"bytes"
	"slices"
)

// chunks removes pieces: many at once at first, then ever fewer. It starts with half of the pieces,
// then a quarter, down to single ones. It goes from the end to the beginning, because later code
// mostly uses earlier code.
type chunks struct {
	pieces   [][]byte
	size     int       // pieces at a time
	end      int       // the end of the next chunk
	balances []balance // of the pieces, if only balanced chunks may go; otherwise nil
}

// newChunks returns the first step, or nil for a single piece. It owns pieces.
func newChunks(pieces [][]byte, balanced bool) step {
	kept := slices.DeleteFunc(pieces, func(p []byte) bool { return len(p) == 0 })
	if len(kept) < 2 {
		return nil
	}
	c := chunks{pieces: kept, size: (len(kept) + 1) / 2, end: len(kept)}
	if balanced {
		for _, p := range kept {
			c.balances = append(c.balances, balanceOf(p))
		}
	}
	return c.nextAllowed()
}

func (c chunks) from() int { return max(0, c.end-c.size) }

func (c chunks) candidate() []byte { return bytes.Join(c.without(), nil) }

func (c chunks) without() [][]byte { return slices.Concat(c.pieces[:c.from()], c.pieces[c.end:]) }

func (c chunks) next(shows bool) step {
	from := c.from()
	if shows {
		if c.balances != nil {
			c.balances = slices.Concat(c.balances[:from], c.balances[c.end:])
		}
		c.pieces = c.without()
	}
	c.end = from
	return c.nextAllowed()
}

// nextAllowed goes on to the next chunk that may go.
func (c chunks) nextAllowed() step {
	for {
		switch {
		case len(c.pieces) < 2:
			return nil
		case c.end > 0 && c.mayGo():
			return c
		case c.end > 0:
			c.end = c.from()
		case c.size == 1:
			return nil
		default:
			c.size, c.end = min((c.size+1)/2, len(c.pieces)-1), len(c.pieces)
		}
	}
}

// mayGo reports whether the chunk is balanced, and not the whole source.
func (c chunks) mayGo() bool {
	if c.end-c.from() == len(c.pieces) {
		return false
	}
	if c.balances == nil {
		return true
	}
	var sum balance
	for _, b := range c.balances[c.from():c.end] {
		sum = sum.plus(b)
	}
	return sum == balance{}
}

func (c chunks) part() float64 { return 1 - float64(c.end)/float64(max(1, len(c.pieces))) }

// A pass is one way to go over a source.
type pass struct {
	name  string
	begin func(source []byte) step // nil: nothing to try
}

// formsMax is the deepest nesting with a pass of its own.
const formsMax = 6

// cheapPasses returns the passes that remove much with few tests. Forms come first: half of a
// program's lines rarely is a program, half of its functions may be.
func cheapPasses() []pass {
	var list []pass
	for depth := range formsMax {
		cut := forms(depth)
		list = append(list, pass{"forms", func(source []byte) step {
			if depth > 0 && deepest(source) < depth {
				return nil
			}
			return newChunks(cut(source), true)
		}})
	}
	return append(list,
		pass{"lines", func(source []byte) step { return newChunks(bytes.SplitAfter(source, []byte("\n")), false) }},
		pass{"groups", newUnwrapping},
		pass{"tokens", func(source []byte) step { return newChunks(words(source), false) }},
	)
}

// dearPasses need several times as many tests as the source has tokens.
var dearPasses = []pass{{"runs of tokens", newRuns}}

// lastPasses come last. After them the others would find nothing new.
var lastPasses = []pass{{"spaces", newTidying}}

// words cuts a source into its tokens.
func words(text []byte) [][]byte {
	var list [][]byte
	for _, t := range tokens(text) {
		list = append(list, text[t.from:t.to])
	}
	return list
}

// forms cuts a source after each thing that looks complete within at most depth pairs of brackets:
// after a semicolon, a closing brace or a line end. In a C program these are functions at depth 0,
// and their statements at depth 1.
func forms(depth int) func([]byte) [][]byte {
	return func(text []byte) (list [][]byte) {
		toks := tokens(text)
		at, deep := 0, depths(toks)
		for i, t := range toks {
			if deep[i] > depth || i+1 == len(toks) || toks[i+1].first == ';' {
				continue
			}
			if t.first == ';' || t.first == '}' || toks[i+1].newline && deep[i+1] <= depth && toks[i+1].first != '{' {
				list, at = append(list, text[at:t.to]), t.to
			}
		}
		return append(list, text[at:])
	}
}

// deepest returns the largest number of bracket pairs around a token.
func deepest(text []byte) (most int) {
	for _, d := range depths(tokens(text)) {
		most = max(most, d)
	}
	return most
}

// balance counts the unmatched brackets of a piece.
type balance struct{ round, square, curly int }

func balanceOf(piece []byte) (b balance) {
	for _, t := range tokens(piece) {
		switch t.first {
		case '(':
			b.round++
		case ')':
			b.round--
		case '[':
			b.square++
		case ']':
			b.square--
		case '{':
			b.curly++
		case '}':
			b.curly--
		}
	}
	return b
}

func (b balance) plus(c balance) balance {
	return balance{b.round + c.round, b.square + c.square, b.curly + c.curly}
}

// runsMax is the longest run of tokens that is tried at every place. runsOf is the largest source
// for that, in tokens.
const (
	runsMax = 8
	runsOf  = 4096
)

// runs removes size tokens at every place. It finds runs across the borders of chunks, such as
// "else if (".
type runs struct {
	text   []byte
	tokens []token
	size   int
	end    int // the end of the next run
}

func newRuns(text []byte) step {
	r := runs{text: text, tokens: tokens(text), size: runsMax}
	if len(r.tokens) > runsOf {
		return nil
	}
	r.end = len(r.tokens)
	return r.nextAllowed()
}

func (r runs) candidate() []byte {
	return slices.Concat(r.text[:r.tokens[r.end-r.size].from], r.text[r.tokens[r.end-1].to:])
}

func (r runs) next(shows bool) step {
	if !shows {
		r.end--
		return r.nextAllowed()
	}
	r.text = r.candidate()
	r.tokens = tokens(r.text) // two words may have become one
	r.end = min(r.end-1, len(r.tokens))
	return r.nextAllowed()
}

func (r runs) nextAllowed() step {
	for r.end < r.size || r.size >= len(r.tokens) {
		if r.size == 1 {
			return nil
		}
		r.size, r.end = r.size-1, len(r.tokens)
	}
	return r
}

func (r runs) part() float64 { return 1 - float64(r.end)/float64(max(1, len(r.tokens))) }

// A token is the smallest removable unit: a word, a number, a string, a comment that ends in its
// line, or a single character, with the spaces before it.
type token struct {
	from, to int
	at       int  // behind the spaces
	first    byte // its first byte
	newline  bool // the spaces contain a line end
}

// tokens splits a source. The text after the last token belongs to that token, so that all tokens
// make up the source.
func tokens(text []byte) (list []token) {
	for at := 0; at < len(text); {
		t := token{from: at}
		for at < len(text) && isSpace(text[at]) {
			t.newline = t.newline || text[at] == '\n'
			at++
		}
		if at == len(text) {
			if len(list) > 0 {
				list[len(list)-1].to = at
				break
			}
			t.to = at
			return append(list, t)
		}
		t.at, t.first = at, text[at]
		at += tokenLength(text[at:])
		t.to = at
		list = append(list, t)
	}
	return list
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// tokenLength returns the length of the token that text begins with.
func tokenLength(text []byte) int {
	n := 1
	switch c := text[0]; {
	case isWord(c):
		for n < len(text) && isWord(text[n]) {
			n++
		}
	case c == '"' || c == '\'' || c == '`':
		return stringLength(text)
	}
	return n
}

// quotedMax bounds the length of a string.
const quotedMax = 4 << 10

// stringLength returns the length of the string that text begins with. If it does not end in its
// line, the mark is probably an apostrophe, and the length is 1.
func stringLength(text []byte) int {
	for n := 1; n < len(text) && n < quotedMax && text[n] != '\n'; n++ {
		switch text[n] {
		case text[0]:
			return n + 1
		case '\\':
			n++
		}
	}
	return 1
}

// closing returns the bracket that closes another, or 0.
func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return 0
}

// A group is a pair of brackets, as indexes of tokens.
type group struct{ open, close int }

// groups pairs the brackets, in the order in which they open. It ignores brackets without a match.
func groups(list []token) (found []group) {
	var open []int // indexes in found
	for i, t := range list {
		if closing(t.first) != 0 {
			open = append(open, len(found))
			found = append(found, group{i, -1})
			continue
		}
		for n := len(open) - 1; n >= 0; n-- {
			if closing(list[found[open[n]].open].first) == t.first {
				found[open[n]].close = i
				open = open[:n]
				break
			}
		}
	}
	return slices.DeleteFunc(found, func(g group) bool { return g.close < 0 })
}

// depths returns for each token the number of bracket pairs around it. A bracket is outside its own
// pair.
func depths(list []token) []int {
	change := make([]int, len(list)+1)
	for _, g := range groups(list) {
		change[g.open+1]++
		change[g.close]--
	}
	depth, now := make([]int, len(list)), 0
	for i := range list {
		now += change[i]
		depth[i] = now
	}
	return depth
}
