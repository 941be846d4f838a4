package cause

import (
	"bytes"
	"cmp"
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
	counter    lineCounter      // of the new text
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
	oldStarts          []int // see indexLines
	nowStarts          []int
	key                []byte
	elements           [2][]element
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
	s.a, s.b = keysOf(s.a, s.oldLines), keysOf(s.b, s.nowLines)
	t.counter = lineCounter{t.now, from, int32(bytes.Count(t.now[:from], newline))}
	t.compareLines()
}

// trim returns the ends of the equal prefix and suffix, in whole lines.
func (t *text) trim() (from, oldTo, nowTo int) {
	from = commonPrefix(t.old, t.now)
	if from == len(t.old) && from == len(t.now) {
		return from, from, from
	}
	for range around {
		from = max(0, bytes.LastIndexByte(t.old[:from], '\n'))
	}
	from = lineStart(t.old, from)
	tail := commonSuffix(t.old[from:], t.now[from:])
	for range around + 1 {
		i := bytes.IndexByte(t.old[len(t.old)-tail:], '\n')
		if i < 0 {
			return from, len(t.old), len(t.now)
		}
		oldTo, nowTo = len(t.old)-tail+i, len(t.now)-tail+i
		tail -= i + 1
	}
	return from, oldTo, nowTo
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
func (t *text) compareLines() {
	s := t.scratch
	n, m := len(s.a)-1, len(s.b)-1 // the last line is empty on both sides
	s.blocks = s.compare(s.a[:n], s.b[:m], linesMax)
	s.blocks = joinBlocks(s.blocks)
	t.slideLines(s.blocks, s.a[:n], s.b[:m])
	i, j := 0, 0
	for _, b := range s.blocks {
		for ; i < b.a0; i, j = i+1, j+1 {
			t.comparePair(i, j, true)
		}
		t.compareHunk(b)
		i, j = b.a1+1, b.b1+1 // the hunk included the gap of the next pair
		if i <= n {
			t.comparePair(i-1, j-1, false)
		}
	}
	for ; i <= n; i, j = i+1, j+1 {
		t.comparePair(i, j, true)
	}
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
	return abs(b.a1 - b.a0 - (b.b1 - b.b0))
}

func abs(n int) int { return max(n, -n) }

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

// comparePair compares the whitespace of lines that are otherwise equal, and with withGap that before them.
func (t *text) comparePair(i, j int, withGap bool) {
	a, b := &t.scratch.oldLines[i], &t.scratch.nowLines[j]
	x, y, xEnd, yEnd := int(a.from), int(b.from), int(a.to), int(b.to)
	if withGap {
		x, y = int(a.gap), int(b.gap)
	}
	if bytes.Equal(t.old[x:xEnd], t.now[y:yEnd]) {
		return
	}
	for x < xEnd || y < yEnd {
		gapX, gapY := x, y
		x, y = skipSpace(t.old, x, xEnd), skipSpace(t.now, y, yEnd)
		t.addGapEdits(Span{gapX, x}, Span{gapY, y})
		x, y = min(x+1, xEnd), min(y+1, yEnd)
	}
}

// skipSpace returns the place of the next byte that is not whitespace.
func skipSpace(b []byte, at, to int) int {
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
		if from = skipSpace(text, from, to); from == to {
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
// taken as equal. isExact detects such collisions.
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
