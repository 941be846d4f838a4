package cause

import "bytes"

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
