package cause

import (
	"bytes"
	"strings"
)

var newline = []byte("\n")

// addGapEdits adds the edits of a gap: one each for the end of the line before, the blank lines,
// and the indent.
func (t *text) addGapEdits(old, now Span, c *lineCounter) {
	a, b := t.old[old.From:old.To], t.now[now.From:now.To]
	if bytes.Equal(a, b) {
		return
	}
	a0, a1 := bytes.IndexByte(a, '\n'), bytes.LastIndexByte(a, '\n')+1
	b0, b1 := bytes.IndexByte(b, '\n'), bytes.LastIndexByte(b, '\n')+1
	if a0 < 0 || b0 < 0 {
		t.gapEdit(old, now, gapWithinLine(a, b, a0, b0), c)
		return
	}
	for _, cut := range [...][4]int{{0, a0, 0, b0}, {a0, a1, b0, b1}, {a1, len(a), b1, len(b)}} {
		x, y := a[cut[0]:cut[1]], b[cut[2]:cut[3]]
		if bytes.Equal(x, y) {
			continue
		}
		change := blankLineSort(x, y)
		switch {
		case cut[1] == a0:
			change = trailingSort(x, y)
		case cut[0] == a1:
			change = indentSort(x, y)
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

// spaceContext returns the context that separates equal changes of whitespace. It uses the side
// with more lines, because lines were split or joined there.
func (t *text) spaceContext(old, now Span, change gapChange) string {
	switch {
	case change.isOfIndent():
		return t.indentContext(old, now)
	case change.sort == alignment && !sameWords(lastLineOf(t.old, old.From), lastLineOf(t.now, now.From)):
		return "behind an edit"
	case !change.dependsOnPlace():
		return ""
	}
	s, gap := &t.around[0], old
	other, at, since := &t.around[1], now.From, "in removed "
	if bytes.IndexByte(t.old[old.From:old.To], '\n') < 0 {
		s, gap = &t.around[1], now
		other, at, since = &t.around[0], old.From, "in added "
	}
	if change.isOfBlankLines() { // of the lines themselves, without the next line's indent
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

// An indentedLine is the last line whose indent changed.
type indentedLine struct {
	ends, by int // the end of its indent, and how many bytes it gained
	in       string
}

// indentContext returns the context of an indent. A line that begins with an operator continues the
// line before, and is aligned with it. If it moves as the line before does, it has that line's
// context.
func (t *text) indentContext(old, now Span) string {
	is := indentedLine{ends: now.To, by: now.To - now.From - (old.To - old.From)}
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

// sameWords reports whether two texts differ only in whitespace.
func sameWords(a, b []byte) bool {
	for {
		a, b = bytes.TrimLeft(a, " \t"), bytes.TrimLeft(b, " \t")
		if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
			return len(a) == len(b)
		}
		a, b = a[1:], b[1:]
	}
}
