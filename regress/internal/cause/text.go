package cause

import (
	"bytes"
	"cmp"
	"sync"
)

const (
	linesMax  = 800 // steps between lines before anchors are used
	tokensMax = 600 // the same between tokens
	alignMin  = 400 // hunks with more lines are aligned first
	hunkMax   = 1 << 18
)

// editsMax is the number of edits of one part whose places are kept. If a part has more, only their
// causes are kept.
const editsMax = 100_000

// A place is a literal edit with its pattern, its lines and its neighbours.
type place struct {
	LiteralEdit
	pattern int32 // an index
	line    int32 // the line of the new side where it begins
	lines   int32 // the lines that it covers; with each pattern kept once, the lines of all its edits
	gap     uint8 // tokens since the edit before, at most 255
	// The words before and after it, as indexes.
	before, after int32
	// The index in cuts where the starts of the pattern's elements are listed, except the first of
	// each side. -1 if both sides have at most one element.
	cut int32
}

// A text is one part during its comparison.
type text struct {
	old, now   []byte
	words      *words
	scratch    *scratch
	places     []place
	cuts       []int32
	extents    map[int32]extent // by pattern, if there are more than editsMax edits
	changed    int64            // bytes on the larger side of edits other than whitespace
	around     [2]surroundings  // of the old and the new text
	lastIndent indentedLine
	besideEdit bool // the current gap is before a replacement
}

// scratch is memory that is reused from part to part.
type scratch struct {
	comparer
	oldLines, nowLines []line
	a, b               []uint64
	blocks             []block
	old, now           []token
	inner, cuts        []block
	oldStarts          []int // see lineStarts
	nowStarts          []int
	key                []byte
	elements           [2][]element
}

type scratches struct{ pool sync.Pool }

func (p *scratches) get() *scratch {
	if s, ok := p.pool.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// compare finds the edits of a text, in order.
func (t *text) compare() {
	from, oldTo, nowTo := t.trim()
	if from == oldTo && from == nowTo {
		return
	}
	s := t.scratch
	s.oldLines = splitLines(s.oldLines, t.old, from, oldTo)
	s.nowLines = splitLines(s.nowLines, t.now, from, nowTo)
	line := int32(bytes.Count(t.now[:from], newline))
	s.a, s.b = keysOf(s.a, s.oldLines), keysOf(s.b, s.nowLines)
	t.compareLines(line)
}

// trim returns the ends of the equal prefix and suffix, in whole lines.
func (t *text) trim() (from, oldTo, nowTo int) {
	n := min(len(t.old), len(t.now))
	from = commonPrefix(t.old[:n], t.now[:n])
	if from == len(t.old) && from == len(t.now) {
		return from, from, from
	}
	for range around {
		from = max(0, bytes.LastIndexByte(t.old[:from], '\n'))
	}
	from = lineStart(t.old, from)
	tail := commonSuffix(t.old[from:], t.now[from:])
	for range around {
		i := bytes.IndexByte(t.old[len(t.old)-tail:], '\n')
		if i < 0 {
			return from, len(t.old), len(t.now)
		}
		tail -= i + 1
	}
	if i := bytes.IndexByte(t.old[len(t.old)-tail:], '\n'); i >= 0 {
		return from, len(t.old) - tail + i, len(t.now) - tail + i
	}
	return from, len(t.old), len(t.now)
}

// around is the number of equal lines that stay at both ends, so that edits can slide over them.
const around = 20

// lineStart returns the end of the last line before at that is not blank. A whole gap begins there.
func lineStart(b []byte, at int) int {
	for {
		at = bytes.LastIndexByte(b[:at], '\n')
		if at <= 0 {
			return 0
		}
		for at > 0 && isSpace(b[at-1]) && b[at-1] != '\n' {
			at--
		}
		if b[max(0, at-1)] != '\n' {
			return at
		}
	}
}

// compareLines compares the blocks of different lines and the pairs of lines between them.
func (t *text) compareLines(line int32) {
	s := t.scratch
	n, m := len(s.a)-1, len(s.b)-1 // the last line is empty on both sides
	s.blocks = s.compare(s.a[:n], s.b[:m], linesMax)
	s.blocks = joinBlocks(s.blocks)
	slideLines(s.blocks, s.a[:n], s.b[:m], t.old, s.oldLines, t.now, s.nowLines)
	i, j := 0, 0
	counter := lineCounter{t.now, 0, line}
	if len(s.nowLines) > 0 {
		counter.at = int(s.nowLines[0].gap)
	}
	for _, b := range s.blocks {
		t.comparePairs(i, b.a0, j, &counter)
		t.compareHunk(b, &counter)
		i, j = b.a1+1, b.b1+1 // the hunk included the gap of the next pair
		if i <= n {
			t.comparePair(i-1, j-1, false, &counter)
		}
	}
	t.comparePairs(i, n+1, j, &counter)
}

const (
	islandMax = 2  // the most equal lines between two blocks that are compared as one
	joinedMax = 60 // the most lines of that one on a side
)

// joinBlocks joins blocks that a few equal lines separate: where text was wrapped elsewhere, lines are
// equal by chance, and tokens tell. Blocks that replace lines one by one stay apart. So does a block that
// only adds or removes lines, unless joining evens out the numbers of lines on both sides.
func joinBlocks(blocks []block) []block {
	out := blocks[:0]
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && b.a0-out[last].a1 <= islandMax {
			x, joined := out[last], block{out[last].a0, b.a1, out[last].b0, b.b1}
			isSmall := max(joined.a1-joined.a0, joined.b1-joined.b0) <= joinedMax
			arePairs := !x.isPure() && !b.isPure() && x.excess()+b.excess() > 0
			if isSmall && (arePairs || x.isPure() != b.isPure() && 2*joined.excess() < max(x.excess(), b.excess())) {
				out[last] = joined
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

// excess returns how many more lines or tokens one side of a block has than the other.
func (b block) excess() int {
	n := b.a1 - b.a0 - (b.b1 - b.b0)
	return max(n, -n)
}

// lineCounter counts lines as it goes.
type lineCounter struct {
	text []byte
	at   int
	line int32
}

func (c *lineCounter) to(at int) int32 {
	if at > c.at {
		c.line += int32(bytes.Count(c.text[c.at:at], newline))
		c.at = at
	}
	return c.line
}

// comparePairs compares the whitespace of lines that are otherwise equal.
func (t *text) comparePairs(i, to, j int, c *lineCounter) {
	for ; i < to; i, j = i+1, j+1 {
		t.comparePair(i, j, true, c)
	}
}

func (t *text) comparePair(i, j int, withGap bool, c *lineCounter) {
	a, b := &t.scratch.oldLines[i], &t.scratch.nowLines[j]
	x, y := a.from, b.from
	if withGap {
		x, y = a.gap, b.gap
	}
	if bytes.Equal(t.old[x:a.to], t.now[y:b.to]) {
		return
	}
	for x < a.to || y < b.to {
		gapX, gapY := x, y
		x, y = skipSpace(t.old, x, a.to), skipSpace(t.now, y, b.to)
		t.addGapEdits(Span{int(gapX), int(x)}, Span{int(gapY), int(y)}, c)
		if x < a.to {
			x++
		}
		if y < b.to {
			y++
		}
	}
}

func skipSpace(b []byte, at, to int32) int32 {
	for at < to && isSpace(b[at]) {
		at++
	}
	return at
}

func keysOf(keys []uint64, lines []line) []uint64 {
	keys = keys[:0]
	for i := range lines {
		keys = append(keys, lines[i].key)
	}
	return keys
}

func commonPrefix(a, b []byte) int {
	n := 0
	for n+64 <= len(a) && n+64 <= len(b) && bytes.Equal(a[n:n+64], b[n:n+64]) {
		n += 64
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n := 0
	for n+64 <= len(a) && n+64 <= len(b) && bytes.Equal(a[len(a)-n-64:len(a)-n], b[len(b)-n-64:len(b)-n]) {
		n += 64
	}
	for n < len(a) && n < len(b) && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// A line is a line that is not blank. [gap, from) is the whitespace before it, with the end of the
// line before and blank lines. [from, to) is its content. So the lines of a text cover all of it
// except the whitespace at its end. That is the gap of a last, empty line.
type line struct {
	gap, from, to int32
	key           uint64 // of the content without whitespace
}

const (
	// A longer line is cut after ; { } and >. In minified code these stand where other code has
	// line breaks.
	lineMax = 1000
	// No piece of a line is longer than this.
	lineLimit = 1 << 16
)

// splitLines returns the lines of text between from and to, and the last, empty line.
func splitLines(lines []line, text []byte, from, to int) []line {
	lines = lines[:0]
	newline, long := from-1, false // the end of the line that from is on
	for gap := from; ; {
		for from < to && isSpace(text[from]) {
			from++
		}
		if from == to {
			return append(lines, line{int32(gap), int32(to), int32(to), 0})
		}
		if from > newline {
			newline = to
			if i := bytes.IndexByte(text[from:to], '\n'); i >= 0 {
				newline = from + i
			}
			long = newline-from > lineMax
		}
		end := newline
		if long {
			end = cutLong(text, from, newline)
		}
		l := line{gap: int32(gap), from: int32(from)}
		l.to, l.key = keyOf(text, from, end)
		lines = append(lines, l)
		gap, from = int(l.to), end
	}
}

// cutLong returns the end of the piece of a long line that begins at from.
func cutLong(text []byte, from, to int) int {
	to = min(to, from+lineLimit)
	if i := bytes.IndexAny(text[from:to], ";{}>"); i >= 0 {
		return from + i + 1
	}
	return to
}

// keyOf returns the end of the last byte that is not whitespace, and a key of all such bytes.
func keyOf(text []byte, from, to int) (int32, uint64) {
	key, last := uint64(keySeed), from
	for i := from; i < to; i++ {
		if c := text[i]; !isSpace(c) {
			key = (key ^ uint64(c)) * keyPrime
			last = i + 1
		}
	}
	return int32(last), mix(key)
}

// FNV, with a last step that mixes high bits into low ones. Two contents with the same key are
// taken as equal. verifyExact detects such collisions.
const (
	keySeed  = 14695981039346656037
	keyPrime = 1099511628211
)

func mix(key uint64) uint64 { return key ^ key>>29 }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// words numbers strings. The empty string is 0. For a pattern it keeps where its elements have space
// before them, as in the output: names are written so.
type words struct {
	numbers map[string]int32
	list    []string
	spaces  map[int32]spaces
}

func newWords() *words { return &words{map[string]int32{"": 0}, []string{""}, map[int32]spaces{}} }

func (w *words) index(b []byte) int32 {
	if n, known := w.numbers[string(b)]; known {
		return n
	}
	return w.add(string(b))
}

func (w *words) add(s string) int32 {
	n, known := w.numbers[s]
	if !known {
		n = int32(len(w.list))
		w.numbers[s] = n
		w.list = append(w.list, s)
	}
	return n
}

// setSpaces keeps the spaces of a pattern. Where cases differ in them, those count that sort first: the
// order of the calls does not matter.
func (w *words) setSpaces(n int32, is spaces) {
	if was, known := w.spaces[n]; !known || cmp.Or(cmp.Compare(is.old, was.old), cmp.Compare(is.now, was.now)) < 0 {
		w.spaces[n] = is
	}
}

// spaces has for each element of both sides of a pattern a space if one stands before it, else a dot.
type spaces struct{ old, now string }

// spacesOf returns the spaces of one side.
func spacesOf(text []byte, side []element) string {
	b := make([]byte, len(side))
	for i, e := range side {
		if b[i] = '.'; isSpace(text[e.at]) {
			b[i] = ' '
		}
	}
	return string(b)
}
