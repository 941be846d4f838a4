package cause

// hunk finds the edits between the lines of a block. What follows it is a pair of lines
// that say the same, whose gap belongs to the hunk.
func (t *text) hunk(b block, c *lineCounter) {
	s := t.scratch
	if s.work <= 0 {
		t.whole(b, c)
		return
	}
	if b.a1-b.a0 > alignMin || b.b1-b.b0 > alignMin {
		t.aligned(b, c)
		return
	}
	s.old = t.tokens(s.old, t.old, s.oldLines[b.a0:b.a1+1])
	s.now = t.tokens(s.now, t.now, s.nowLines[b.b0:b.b1+1])
	if len(s.old)+len(s.now) > hunkMax {
		t.whole(b, c)
		return
	}
	if n := b.a1 - b.a0; n > 1 && n == b.b1-b.b0 && !t.fits() {
		t.inPairs(b, c)
		t.gapBehind(b, c)
		return
	}
	t.compareTokens(c)
}

// fits reports whether the tokens of a hunk differ by so few steps that the shortest
// way between them is found.
func (t *text) fits() bool {
	s := t.scratch
	t.keys()
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	if len(a)+len(b) <= tokensMax {
		return true
	}
	_, ok := s.myers(s.inner[:0], a, b, block{0, len(a), 0, len(b)}, tokensMax)
	return ok
}

// inPairs compares as many lines as there are on both sides one by one.
func (t *text) inPairs(b block, c *lineCounter) {
	for i := range b.a1 - b.a0 {
		t.piece(block{b.a0 + i, b.a0 + i + 1, b.b0 + i, b.b0 + i + 1}, c)
	}
}

// gapBehind compares the gap behind a block that was compared in pieces.
func (t *text) gapBehind(b block, c *lineCounter) {
	p, q := t.scratch.oldLines[b.a1], t.scratch.nowLines[b.b1]
	t.space(Span{int(p.gap), int(p.from)}, Span{int(q.gap), int(q.from)}, c)
}

// tokens returns those of lines. The last line is the one behind, of which only the gap
// is wanted: it is a token that says nothing.
func (t *text) tokens(tokens []token, text []byte, lines []line) []token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = tokenize(tokens, text, int(l.gap), int(l.to))
	}
	return append(tokens, token{gap: lines[last].gap, from: lines[last].from, to: lines[last].from})
}

// whole makes one edit of a block that there is no telling apart.
func (t *text) whole(b block, c *lineCounter) {
	s := t.scratch
	old := Span{int(s.oldLines[b.a0].gap), int(s.oldLines[b.a1].from)}
	now := Span{int(s.nowLines[b.b0].gap), int(s.nowLines[b.b1].from)}
	t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, []byte(wholePattern), c)
}

// wholePattern is that of what is replaced as a whole.
const wholePattern = string(sortEdit) + " L…\tL…"

// aligned goes through a block of many lines that differ, line by line where lines are
// alike but for their words and numbers.
func (t *text) aligned(b block, c *lineCounter) {
	s := t.scratch
	x, y := skeletons(nil, t.old, s.oldLines[b.a0:b.a1]), skeletons(nil, t.now, s.nowLines[b.b0:b.b1])
	i, j := b.a0, b.b0
	blocks := append(s.compare(x, y, linesMax), block{len(x), len(x), len(y), len(y)})
	for _, k := range blocks {
		for ; i < b.a0+k.a0; i, j = i+1, j+1 {
			t.piece(block{i, i + 1, j, j + 1}, c)
		}
		if next := (block{i, b.a0 + k.a1, j, b.b0 + k.b1}); next.a0 < next.a1 || next.b0 < next.b1 {
			t.piece(next, c)
		}
		i, j = b.a0+k.a1, b.b0+k.b1
	}
	t.gapBehind(b, c)
}

// piece compares some lines of a block, without the gap behind them.
func (t *text) piece(b block, c *lineCounter) {
	s := t.scratch
	n := b.a1 - b.a0
	pairs := n > 1 && n == b.b1-b.b0
	if pairs && n > alignMin {
		t.inPairs(b, c)
		return
	}
	s.old = pieceTokens(s.old, t.old, s.oldLines[b.a0:b.a1+1])
	s.now = pieceTokens(s.now, t.now, s.nowLines[b.b0:b.b1+1])
	switch {
	case s.work <= 0 || len(s.old)+len(s.now) > hunkMax:
		old := Span{int(s.old[0].gap), int(s.old[len(s.old)-1].from)}
		now := Span{int(s.now[0].gap), int(s.now[len(s.now)-1].from)}
		t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, []byte(wholePattern), c)
	case pairs && !t.fits():
		t.inPairs(b, c)
	default:
		t.compareTokens(c)
	}
}

// pieceTokens returns the tokens of lines and a last one that says nothing. The last
// line is the one behind, of which nothing is wanted.
func pieceTokens(tokens []token, text []byte, lines []line) []token {
	tokens = tokens[:0]
	last := len(lines) - 1
	for _, l := range lines[:last] {
		tokens = tokenize(tokens, text, int(l.gap), int(l.to))
	}
	gap := lines[last].gap
	return append(tokens, token{gap: gap, from: gap, to: gap})
}

// skeletons returns keys of lines in which all words are alike, and all numbers.
func skeletons(keys []uint64, text []byte, lines []line) []uint64 {
	var tokens []token
	for _, l := range lines {
		tokens = tokenize(tokens[:0], text, int(l.gap), int(l.to))
		key := uint64(keySeed)
		for _, k := range tokens {
			switch k.kind {
			case word, number:
				key = (key ^ uint64(k.kind)) * keyPrime
			default:
				key = (key ^ k.key) * keyPrime
			}
		}
		keys = append(keys, mix(key))
	}
	return keys
}

// keys puts those of the tokens behind those of the lines.
func (t *text) keys() {
	s := t.scratch
	s.a, s.b = s.a[:len(s.oldLines)], s.b[:len(s.nowLines)]
	for _, k := range s.old[:len(s.old)-1] {
		s.a = append(s.a, k.key)
	}
	for _, k := range s.now[:len(s.now)-1] {
		s.b = append(s.b, k.key)
	}
}

// tokenWork is what a token costs beside its comparing, in steps.
const tokenWork = 8

// compareTokens finds the edits between the tokens of a hunk.
func (t *text) compareTokens(c *lineCounter) {
	s := t.scratch
	n, m := len(s.old)-1, len(s.now)-1
	t.keys()
	s.work -= tokenWork * (n + m)
	a, b := s.a[len(s.oldLines):], s.b[len(s.nowLines):]
	s.inner = s.within(s.inner[:0], a, b, block{0, n, 0, m}, tokensMax, 0)
	h := hunk{text: t, c: c, blocks: s.inner, marks: nil}
	h.merge()
	h.cutLines()
	h.cutPairs()
	h.slide()
	h.match()
	h.emit()
	s.inner = h.blocks
}

// A hunk is a range of tokens on both sides, and in what they differ.
type hunk struct {
	*text
	c      *lineCounter
	blocks []block
	marks  [][]byte // the patterns of blocks that have one already
}

// bytes returns what a token says.
func (t token) bytes(text []byte) []byte { return text[t.from:t.to] }
