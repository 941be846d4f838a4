package cause

import (
	"bytes"
	"strings"
)

var newline = []byte("\n")

// space adds the edits of a gap: of what ends the line before, of the blank lines, and
// of the indent, each by itself.
func (t *text) space(old, now Span, c *lineCounter) {
	a, b := t.old[old.From:old.To], t.now[now.From:now.To]
	if bytes.Equal(a, b) {
		return
	}
	a0, a1 := bytes.IndexByte(a, '\n'), bytes.LastIndexByte(a, '\n')+1
	b0, b1 := bytes.IndexByte(b, '\n'), bytes.LastIndexByte(b, '\n')+1
	if a0 < 0 || b0 < 0 {
		t.gapEdit(old, now, within(a, b, a0, b0), c)
		return
	}
	for _, cut := range [...][4]int{{0, a0, 0, b0}, {a0, a1, b0, b1}, {a1, len(a), b1, len(b)}} {
		x, y := a[cut[0]:cut[1]], b[cut[2]:cut[3]]
		if bytes.Equal(x, y) {
			continue
		}
		change := blankLines(x, y)
		switch {
		case cut[1] == a0:
			change = trailing(x, y)
		case cut[0] == a1:
			change = indent(x, y)
		}
		t.gapEdit(Span{old.From + cut[0], old.From + cut[1]}, Span{now.From + cut[2], now.From + cut[3]}, gapChange{sort: change}, c)
	}
}

func (t *text) gapEdit(old, now Span, change gapChange, c *lineCounter) {
	key := append(append(t.scratch.key[:0], sortSpace.key("")...), change.key()...)
	if in := t.spaceContext(old, now, change); in != "" {
		key = append(append(key, '\t'), in...)
	}
	t.scratch.key = key
	t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, key, c)
}

// spaceContext returns what tells whitespace apart that was changed alike; by the side
// that has more lines, for there is what was taken apart, or put together.
func (t *text) spaceContext(old, now Span, change gapChange) string {
	switch {
	case change.isOfIndent():
		return t.indentContext(old, now)
	case change.sort == alignment && !sameWords(lastLineOf(t.old, old.From), lastLineOf(t.now, now.From)):
		return "behind an edit"
	case !change.isTelling():
		return ""
	}
	s, gap := &t.around[0], old
	other, at, since := &t.around[1], now.From, "in removed "
	if bytes.IndexByte(t.old[old.From:old.To], '\n') < 0 {
		s, gap = &t.around[1], now
		other, at, since = &t.around[0], old.From, "in added "
	}
	if change.isOfBlankLines() { // of the lines themselves, without the indent of the one behind
		gap.To = skip(s.text, gap.To)
	}
	in := s.gap(gap, change)
	if !change.isBroken() {
		return in
	}
	if bracket, is := strings.CutPrefix(in, "in "); is && in != inComment && !other.isEnclosed(at) {
		in = since + bracket
	}
	if t.besideEdit {
		in = strings.TrimPrefix(in+" before an edit", " ")
	}
	return in
}

// An indented line is one whose indent changed last.
type indented struct {
	ends, by int // where its indent ends, how many bytes more it has
	in       string
}

// indentContext returns that of an indent. A line that begins with an operator goes on with
// what was begun, and is aligned with that; if it moves as the line before does, it says no
// more than that line.
func (t *text) indentContext(old, now Span) string {
	is := indented{ends: now.To, by: now.To - now.From - (old.To - old.From)}
	behind := t.now[now.To:min(len(t.now), now.To+operatorMax)]
	if weight(firstByte(behind)) == operatorWeight && headOf(behind) == "" && !t.around[1].inRemark(now.To) {
		is.in = "before an operator"
	}
	last := t.lastIndent
	between := t.now[max(min(last.ends, now.From), now.From-scanMax):now.From]
	if last.by == is.by && bytes.IndexByte(bytes.TrimSpace(between), '\n') < 0 {
		is.in = last.in
	}
	t.lastIndent = is
	return is.in
}

func skip(text []byte, at int) int { return int(skipSpace(text, int32(at), int32(len(text)))) }

// sameWords reports whether two texts differ by whitespace alone.
func sameWords(a, b []byte) bool {
	for {
		a, b = bytes.TrimLeft(a, " \t"), bytes.TrimLeft(b, " \t")
		if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
			return len(a) == len(b)
		}
		a, b = a[1:], b[1:]
	}
}
