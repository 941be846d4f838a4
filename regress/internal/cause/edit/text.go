// Package edit finds the edits between an old and a new text, each with its pattern. Applied to the old
// text, they give the new one byte for byte. The README of package cause has its stages, one to seven.
//
// It is pure, and sees one text at a time: what many cases have in common is for package cause.
package edit

import (
	"bytes"

	"muster/regress/internal/align"
	"muster/regress/internal/cause/token"
	"muster/regress/internal/plaintext"
)

const (
	linesMax  = 800 // steps between lines before anchors are used
	tokensMax = 600 // the same between tokens
	alignMin  = 400 // hunks with more lines are aligned first
	hunkMax   = 1 << 18
)

// A part may be compared in workLeast steps, plus workForByte steps for each byte. After that, the rest is
// replaced as a whole.
const (
	workLeast   = 1 << 23
	workForByte = 16
)

// workFor returns how many steps two contents may be compared in.
func workFor(old, now []byte) int { return workLeast + workForByte*(len(old)+len(now)) }

// editsMax is the number of edits of one part whose places are kept. If a part has more, only their
// causes are kept.
const editsMax = 100_000

// A Place is a literal edit with its pattern, its lines and its neighbours.
type Place struct {
	LiteralEdit
	Pattern int32 // an index
	Line    int32 // the line of the new side where it begins
	Lines   int32 // the lines that it covers; with each pattern kept once, the lines of all its edits
	Gap     uint8 // tokens since the edit before, at most 255
	// The words before and after it, as indexes.
	Before, After int32
	// The index in cuts where the starts of the pattern's elements are listed, except the first of
	// each side. -1 if both sides have at most one element.
	Cut int32
}

// A text is one part during its comparison.
type text struct {
	old, now []byte
	words    *Words
	scratch  *Comparer
	places   []Place
	cuts     []int32
	extents  map[int32]extent // by pattern, if there are more than editsMax edits
	counter  lineCounter      // of the new text
	changed  int64            // bytes on the larger side of edits other than whitespace
	around   [2]surroundings  // of the old and the new text
	isLayout bool             // whitespace between values, whose place says nothing

	record, lastRecord int // of a document: where it is being compared, and where the last edit is
}

// A Comparer compares texts, and reuses its memory. One goroutine uses it.
type Comparer struct {
	align.Aligner[uint64]
	oldLines, nowLines []line
	a, b               []uint64
	blocks             []align.Block
	old, now           []token.Token
	units              [2]units // of old and now
	inner, cuts        []align.Block
	oldStarts          []int // see indexLines
	nowStarts          []int
	key                []byte
	elements           [2][]element
}

// Edits are what turns an old text into a new one, in order.
type Edits struct {
	Places  []Place
	Cuts    []int32
	TooMany bool  // there are more than editsMax: places has each pattern once
	Changed int64 // bytes on the larger side of edits other than whitespace
}

func newText(old, now []byte, w *Words, s *Comparer) *text {
	t := &text{old: old, now: now, words: w, scratch: s}
	t.around[0].text, t.around[1].text = old, now
	s.Work = workFor(old, now)
	return t
}

// ReplaceAll returns one edit of everything that differs, if anything does.
func ReplaceAll(old, now []byte, pattern int32) (e Edits) {
	from := plaintext.CommonPrefix(old, now)
	to := plaintext.CommonSuffix(old[from:], now[from:])
	if from < len(old) || from < len(now) {
		e.Places = []Place{{
			LiteralEdit: LiteralEdit{Span{from, len(old) - to}, Span{from, len(now) - to}},
			Pattern:     pattern, Lines: 1, Cut: -1,
		}}
	}
	return e
}

// trim returns the ends of the equal prefix and suffix, in whole lines.
func trim(old, now []byte) (from, oldTo, nowTo int) {
	from = plaintext.CommonPrefix(old, now)
	if from == len(old) && from == len(now) {
		return from, from, from
	}
	for range around {
		from = max(0, bytes.LastIndexByte(old[:from], '\n'))
	}
	from = lineStart(old, from)
	tail := plaintext.CommonSuffix(old[from:], now[from:])
	for range around + 1 {
		i := bytes.IndexByte(old[len(old)-tail:], '\n')
		if i < 0 {
			return from, len(old), len(now)
		}
		oldTo, nowTo = len(old)-tail+i, len(now)-tail+i
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
		for at > 0 && token.IsSpace(b[at-1]) && b[at-1] != '\n' {
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
	s.blocks = s.Blocks(s.a[:n], s.b[:m], linesMax)
	s.blocks = joinBlocks(s.blocks)
	i, j := 0, 0
	for _, b := range s.blocks {
		for ; i < b.A0; i, j = i+1, j+1 {
			t.comparePair(i, j, true)
		}
		t.compareHunk(b)
		i, j = b.A1+1, b.B1+1 // the hunk included the gap of the next pair
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
func joinBlocks(blocks []align.Block) []align.Block {
	out := blocks[:0]
	for _, b := range blocks {
		if last := len(out) - 1; last >= 0 && b.A0-out[last].A1 <= islandMax {
			x, joined := out[last], align.Range(out[last].A0, b.A1, out[last].B0, b.B1)
			isSmall := max(joined.A1-joined.A0, joined.B1-joined.B0) <= joinedMax
			arePairs := !x.IsPure() && !b.IsPure() && x.Excess()+b.Excess() > 0
			if isSmall && (arePairs || x.IsPure() != b.IsPure() && 2*joined.Excess() < max(x.Excess(), b.Excess())) {
				out[last] = joined
				continue
			}
		}
		out = append(out, b)
	}
	return out
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
		x, y = token.SkipSpace(t.old, x, xEnd), token.SkipSpace(t.now, y, yEnd)
		t.addGapEdits(Span{gapX, x}, Span{gapY, y})
		x, y = min(x+1, xEnd), min(y+1, yEnd)
	}
}

func keysOf(keys []uint64, lines []line) []uint64 {
	keys = keys[:0]
	for i := range lines {
		keys = append(keys, lines[i].key)
	}
	return keys
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
		if from = token.SkipSpace(text, from, to); from == to {
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
	key, last := uint64(token.KeySeed), from
	for i := from; i < to; i++ {
		if c := text[i]; !token.IsSpace(c) {
			key = (key ^ uint64(c)) * token.KeyPrime
			last = i + 1
		}
	}
	return int32(last), token.Mix(key)
}

// spacesOf returns the spaces of one side.
func spacesOf(text []byte, side []element) string {
	b := make([]byte, len(side))
	for i, e := range side {
		if b[i] = '.'; token.IsSpace(text[e.at]) {
			b[i] = ' '
		}
	}
	return string(b)
}

// isExact reports whether nothing differs outside the edits. Something does if two contents had the same
// key.
func (t *text) isExact() bool {
	i, j := 0, 0
	for _, e := range t.places {
		if e.Old.From < i || e.Now.From < j || string(t.old[i:e.Old.From]) != string(t.now[j:e.Now.From]) {
			return false
		}
		i, j = e.Old.To, e.Now.To
	}
	return string(t.old[i:]) == string(t.now[j:])
}

// A Span is a range of bytes.
type Span struct{ From, To int }

// A LiteralEdit replaces a range of an old content by a range of the new one.
type LiteralEdit struct{ Old, Now Span }
