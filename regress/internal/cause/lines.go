package cause

import "bytes"

// A line is one that is not blank: the whitespace before it with the end of the line
// before and blank lines, [gap, from), and what it says, [from, to). So the lines of a
// text cover all of it, but for the whitespace at its end, which is the gap of a last
// line that says nothing.
type line struct {
	gap, from, to int32
	key           uint64 // of what it says, whitespace left out
}

const (
	// A line longer than this is cut behind ; { } and >, as minified code has them
	// where other code has the ends of its lines.
	lineMax = 1000
	// Nothing is longer than this.
	lineLimit = 1 << 16
)

// splitLines returns the lines of text between from and to, and the last one that says
// nothing.
func splitLines(lines []line, text []byte, from, to int) []line {
	lines = lines[:0]
	newline, long := from-1, false // where the line ends that from is on
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

// cutLong returns where a piece of a long line ends that begins at from.
func cutLong(text []byte, from, to int) int {
	to = min(to, from+lineLimit)
	if i := bytes.IndexAny(text[from:to], ";{}>"); i >= 0 {
		return from + i + 1
	}
	return to
}

// keyOf returns where the last byte is that is no whitespace, and a key of all of those.
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

// FNV's, and a last step that brings the high bits down. Two contents with one key are
// taken for equal, and exact sees it.
const (
	keySeed  = 14695981039346656037
	keyPrime = 1099511628211
)

func mix(key uint64) uint64 { return key ^ key>>29 }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
