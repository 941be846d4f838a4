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
		name := blankLines(x, y)
		switch {
		case cut[1] == a0:
			name = trailing(x, y)
		case cut[0] == a1:
			name = indent(x, y)
		}
		t.gapEdit(Span{old.From + cut[0], old.From + cut[1]}, Span{now.From + cut[2], now.From + cut[3]}, name, c)
	}
}

func (t *text) gapEdit(old, now Span, name string, c *lineCounter) {
	key := append(append(t.scratch.key[:0], sortSpace+" "...), name...)
	if in := t.spaceContext(old, now, name); in != "" {
		key = append(append(key, '\t'), in...)
	}
	t.scratch.key = key
	t.add(place{LiteralEdit: LiteralEdit{old, now}, cut: -1}, key, c)
}

// spaceContext returns what tells whitespace apart that was changed alike; by the side
// that has more lines, for there is what was taken apart, or put together.
func (t *text) spaceContext(old, now Span, name string) string {
	blank := strings.HasPrefix(name, "blank line")
	broken := strings.Contains(name, "line break")
	if !blank && !broken && !strings.Contains(name, "space →") && !strings.Contains(name, "spaces →") || strings.HasPrefix(name, "indent") {
		return ""
	}
	s, gap := &t.around[0], old
	if bytes.IndexByte(t.old[old.From:old.To], '\n') < 0 {
		s, gap = &t.around[1], now
	}
	if blank { // of the lines themselves, without the indent of the one behind
		gap.To = skip(s.text, gap.To)
	}
	return s.gap(gap, blank, broken)
}

func skip(text []byte, at int) int { return int(skipSpace(text, int32(at), int32(len(text)))) }

// within names a change of the gap between two tokens where at most one side has the
// end of a line.
func within(a, b []byte, aLine, bLine int) string {
	switch {
	case aLine >= 0:
		return "line break → " + blank(b)
	case bLine >= 0:
		return blank(a) + " → line break"
	case len(a) > 1 && len(b) > 1 && !bytes.ContainsAny(a, "\t") && !bytes.ContainsAny(b, "\t"):
		return "alignment"
	}
	return blank(a) + " → " + blank(b)
}

// blank names a gap within a line.
func blank(b []byte) string {
	switch {
	case len(b) == 0:
		return "no space"
	case bytes.IndexByte(b, '\t') >= 0:
		return "tab"
	case len(b) == 1:
		return "space"
	}
	return "spaces"
}

func trailing(a, b []byte) string {
	switch {
	case string(a) == "\r" && len(b) == 0:
		return "line end CRLF → LF"
	case len(a) == 0 && string(b) == "\r":
		return "line end LF → CRLF"
	case len(a) > len(b):
		return "trailing space −"
	}
	return "trailing space +"
}

func blankLines(a, b []byte) string {
	x, y := bytes.Count(a, newline), bytes.Count(b, newline)
	switch {
	case x > y:
		return "blank line −"
	case x < y:
		return "blank line +"
	}
	return "blank line" // what is on it
}

func indent(a, b []byte) string {
	tabs, now := bytes.Count(a, []byte("\t")), bytes.Count(b, []byte("\t"))
	switch {
	case tabs > 0 && now == 0 && len(b) > 0:
		return "indent tab → spaces"
	case tabs == 0 && now > 0 && len(a) > 0:
		return "indent spaces → tab"
	case len(a) < len(b):
		return "indent +"
	case len(a) > len(b):
		return "indent −"
	}
	return "indent"
}
