package cause

import "bytes"

// slide brings what is only added, or only removed, to the place among those that mean
// the same which reads best, so that equal changes look equal.
func (h *hunk) slide() {
	s := h.scratch
	for i := range h.blocks {
		b := &h.blocks[i]
		lo, hi := block{}, block{a0: len(s.old) - 1, b0: len(s.now) - 1}
		if i > 0 {
			lo = apart(h.blocks[i-1])
		}
		if i+1 < len(h.blocks) {
			hi = apart(h.blocks[i+1])
		}
		by := 0
		switch {
		case b.a0 == b.a1:
			by = h.best(s.now, h.text.now, b.b0, b.b1, lo.b1, hi.b0)
		case b.b0 == b.b1:
			by = h.best(s.old, h.text.old, b.a0, b.a1, lo.a1, hi.a0)
		}
		*b = b.moved(by)
	}
	h.closeOwn(h.oldSide())
	h.closeOwn(h.nowSide())
}

// apart returns how far a neighbour may slide: to touch a replacement, and not so far
// that it becomes one.
func apart(b block) block {
	if b.isPure() {
		return block{b.a0 - 1, b.a1 + 1, b.b0 - 1, b.b1 + 1}
	}
	return b
}

const (
	slideMax  = 200     // how far at most, for sequences that repeat themselves
	slideWork = 1 << 16 // how far times how much: what is longer stays where it is
)

// best returns by how much to move the range [from, to) of tokens within [lo, hi).
func (h *hunk) best(tokens []token, text []byte, from, to, lo, hi int) (by int) {
	left, right := 0, 0
	for left > -slideMax && from+left > lo && tokens[from+left-1].key == tokens[to+left-1].key {
		left--
	}
	for right < slideMax && to+right < hi && tokens[to+right].key == tokens[from+right].key {
		right++
	}
	if left == right || (right-left)*(to-from) > slideWork {
		return 0
	}
	most := -100
	for at := left; at <= right; at++ {
		v := worth(tokens, text, from+at, to+at)
		// What opens a bracket goes right and what closes one left, for so they
		// belong to each other.
		if v >= most {
			if opened, closed := unmatched(tokens[from+at:to+at], text); v > most || opened > closed {
				most, by = v, at
			}
		}
	}
	return by
}

// worth says how well the range reads as something that was added or removed.
func worth(tokens []token, text []byte, from, to int) (v int) {
	switch opened, closed := unmatched(tokens[from:to], text); {
	case opened+closed == 0:
		v += 4
	case opened == 0 || closed == 0: // one half of brackets around something
		v += 2
	}
	starts, ends := startsLine(tokens[from], text), startsLine(tokens[to], text)
	switch {
	case starts && ends:
		v += 3
	case starts:
		v++
	}
	if from > 0 && glued(tokens[from-1], tokens[from]) {
		v -= 8
	}
	if glued(tokens[to-1], tokens[to]) {
		v -= 8
	}
	if tokens[to].to == tokens[to].from { // the end of the hunk, where a line begins
		v++
	}
	return v
}

func startsLine(k token, text []byte) bool {
	return k.gap == 0 || bytes.IndexByte(text[k.gap:k.from], '\n') >= 0
}

// glued reports whether two tokens are pieces of one name.
func glued(a, b token) bool {
	return b.gap == b.from && a.kind != sign && b.kind != sign
}

// unmatched counts the brackets that are opened and not closed, and the reverse.
func unmatched(tokens []token, text []byte) (opened, closed int) {
	for _, k := range tokens {
		if k.kind != sign || k.to-k.from != 1 {
			continue
		}
		switch text[k.from] {
		case '(', '[', '{':
			opened++
		case ')', ']', '}':
			if opened--; opened < 0 {
				opened, closed = 0, closed+1
			}
		}
	}
	return opened, closed
}

// slideLines does the same for whole lines.
func slideLines(blocks []block, a, b []uint64, old []byte, oldLines []line, now []byte, nowLines []line) {
	for i := range blocks {
		k := &blocks[i]
		lo, hi := block{a1: -1, b1: -1}, block{a0: len(a) + 1, b0: len(b) + 1}
		if i > 0 {
			lo = blocks[i-1]
		}
		if i+1 < len(blocks) {
			hi = blocks[i+1]
		}
		by := 0
		switch {
		case k.a0 == k.a1:
			by = bestLines(b, now, nowLines, k.b0, k.b1, lo.b1+1, hi.b0-1)
		case k.b0 == k.b1:
			by = bestLines(a, old, oldLines, k.a0, k.a1, lo.a1+1, hi.a0-1)
		}
		*k = k.moved(by)
	}
}

func bestLines(keys []uint64, text []byte, lines []line, from, to, lo, hi int) (by int) {
	left, right := 0, 0
	for left > -slideMax && from+left > lo && keys[from+left-1] == keys[to+left-1] {
		left--
	}
	for right < slideMax && to+right < hi && keys[to+right] == keys[from+right] {
		right++
	}
	if left == right || (right-left)*int(lines[to-1].to-lines[from].from) > slideWork {
		return 0
	}
	most := -1 << 30
	for at := left; at <= right; at++ {
		if v := worthLines(text, lines[from+at:to+at]); v > most {
			most, by = v, at
		}
	}
	return by
}

// worthLines prefers lines that close what they open, and begin far to the left.
func worthLines(text []byte, lines []line) int {
	depth, v := 0, 0
	for _, l := range lines {
		for _, c := range text[l.from:l.to] {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				if depth--; depth < 0 {
					v = -1000
				}
			}
		}
	}
	if depth != 0 {
		v = -1000
	}
	return v - int(lines[0].from) + int(lineBegin(text, lines[0]))
}

// lineBegin returns where the line begins that l is on, before its indent.
func lineBegin(text []byte, l line) int32 {
	return l.gap + int32(bytes.LastIndexByte(text[l.gap:l.from], '\n')) + 1
}
