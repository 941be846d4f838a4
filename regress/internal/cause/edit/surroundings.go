package edit

import (
	"bytes"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// surroundings answer what surrounds a place of a text. They keep what they know, because most
// queries go forward within the same brackets and strings.
type surroundings struct {
	text   []byte
	opened bracketStack
	quoted quoteState
}

// bracketStack holds the brackets that are open at a place, the innermost last.
type bracketStack struct {
	at   int
	open []int
}

// openerOf returns the place of the innermost open bracket, or -1 if none is nearby.
func (s *surroundings) openerOf(at int) int {
	b := &s.opened
	if at < b.at || at > b.at+scanMax {
		b.at, b.open = max(0, at-scanMax), b.open[:0]
	}
	for ; b.at < at; b.at++ {
		switch s.text[b.at] {
		case ')', ']', '}':
			b.open = b.open[:max(0, len(b.open)-1)]
		case '(', '[', '{':
			if len(b.open) > 2*scanMax { // the first ones are too far away
				b.open = append(b.open[:0], b.open[scanMax:]...)
			}
			b.open = append(b.open, b.at)
		}
	}
	if last := len(b.open) - 1; last >= 0 && b.open[last] >= at-scanMax {
		return b.open[last]
	}
	return -1
}

// quoteState is the state at a place: the open quote on its line, and whether it is in a comment,
// of one line or of several.
type quoteState struct {
	begin, at int // the line's start; the end of what was read
	open      byte
	remark    bool // to the line's end
	ends      int  // the end of a comment of several lines; 0 without one
	closed    int  // the next end of such a comment, -1 if none follows, 0 if unknown …
	sought    int  // … and the place from where that was searched
}

// quotedAt returns whether a place is in a string or a comment, as a context.
func (s *surroundings) quotedAt(at int) string {
	q := &s.quoted
	switch isRemark := s.inRemark(at); {
	case isRemark:
		return pattern.InComment
	case at > q.begin+scanMax: // too far to know
	case q.remark:
		return pattern.InComment
	case q.open != 0:
		return pattern.InString
	}
	return ""
}

// inRemark reports whether a place is in a comment of several lines. If the comment begins far
// away, a line that begins with * shows it.
func (s *surroundings) inRemark(at int) bool {
	q := &s.quoted
	if at < q.at || at > q.at+scanMax {
		from := max(0, at-scanMax)
		if from > 0 {
			from += bytes.IndexByte(s.text[from:at], '\n') + 1
		}
		ends := q.ends
		if at < q.at {
			ends = 0
		}
		*q = quoteState{begin: from, at: from, ends: ends, closed: q.closed, sought: q.sought}
		line := bytes.TrimLeft(s.text[from:at], " \t")
		if from >= ends && len(line) > 1 && line[0] == '*' && (token.IsSpace(line[1]) || line[1] == '/') {
			q.ends = q.commentEnd(s.text, from)
		}
	}
	q.advance(s.text, at)
	return at < q.ends
}

// advance reads a text up to a place.
func (q *quoteState) advance(text []byte, to int) {
	for ; q.at < to; q.at++ {
		switch c := text[q.at]; {
		case c == '\n':
			q.begin, q.open, q.remark = q.at+1, 0, false
		case q.at < q.ends || q.remark:
		case q.open != 0 && c == '\\':
			if q.at+1 == to { // the escaped byte is outside
				return
			}
			q.at++
		case q.open != 0:
			if c == q.open {
				q.open = 0
			}
		case isQuote(c):
			q.open = c
		case c == '/' || c == '#':
			if q.at+1 == to { // the rest of the marker is outside
				return
			}
			next := text[q.at+1]
			q.remark = c == '/' && next == '/' || c == '#' && next == ' '
			if c == '/' && next == '*' {
				q.ends = q.commentEnd(text, q.at+2)
			}
		}
	}
}

// commentEnd returns the end of the comment that a place is in. It returns 0 for a comment without
// an end, which is none.
func (q *quoteState) commentEnd(text []byte, at int) int {
	if q.closed == 0 || at < q.sought || q.closed > 0 && q.closed < at+2 {
		q.closed, q.sought = -1, at
		if i := bytes.Index(text[at:], []byte("*/")); i >= 0 {
			q.closed = at + i + 2
		}
	}
	return max(0, q.closed)
}

// spaceBefore returns the start of the whitespace that ends at a place, within scanMax bytes.
func spaceBefore(text []byte, at int) int {
	for to := max(0, at-scanMax); at > to && token.IsSpace(text[at-1]); {
		at--
	}
	return at
}

// isEnclosed reports whether a place is in brackets other than those of a body.
func (s *surroundings) isEnclosed(at int) bool {
	i := s.openerOf(at)
	return i >= 0 && s.text[i] != '{'
}

// encloser describes what a place is in: a bracket and what precedes it, or else the keyword or
// sign before the place.
func (s *surroundings) encloser(at int) (in string, isBracket bool) {
	text := s.text
	if s.isEnclosed(at) {
		return "in " + describeOpener(text, s.openerOf(at)), true
	}
	end := spaceBefore(text, at)
	from := end
	for from > 0 && token.IsLetter(text[from-1]) {
		from--
	}
	switch {
	case isKeyword(text[from:end]):
		return "behind " + string(text[from:end]), false
	case end > 0 && weight(text[end-1]) > 0 && !isQuote(text[end-1]):
		return "behind " + string(text[end-1]), false
	}
	return "", false
}

// describeOpener describes the bracket at i: that of a call, of an index, or of what precedes it.
func describeOpener(text []byte, i int) string {
	closed := bracketKind(text[i])
	if text[i] == '{' {
		if head := headOf(lastLineOf(text, i)); head != "" {
			return head + " " + closed
		}
		return closed
	}
	end := spaceBefore(text, i)
	if bytes.IndexByte(text[end:i], '\n') >= 0 {
		end = i
	}
	from := end
	for from > 0 && (token.IsLetter(text[from-1]) || token.IsDigit(text[from-1])) {
		from--
	}
	switch {
	case from < end && isKeyword(text[from:end]):
		return string(text[from:end]) + " " + closed
	case from < end && end == i:
		return "f" + closed
	case end > 0 && text[end-1] == '=' && end > 1 && weight(text[end-2]) == operatorWeight:
		return string(text[end-2:end]) + " " + closed
	case end > 0 && text[end-1] == '=':
		return "= " + closed
	}
	if head := headOf(lastLineOf(text, i)); head != "" && head != "TXT" {
		return head + " … " + closed
	}
	return closed
}

// bracketKind names brackets by one of them.
func bracketKind(c byte) string {
	switch c {
	case '(', ')':
		return "(…)"
	case '[', ']':
		return "[…]"
	}
	return "{…}"
}

// lastLineOf returns the part before a place of the line that it is on.
func lastLineOf(text []byte, at int) []byte {
	at = spaceBefore(text, at)
	from := max(0, at-scanMax)
	return text[from+bytes.LastIndexByte(text[from:at], '\n')+1 : at]
}

// headOf returns the keyword that a line begins with, TXT for a comment, @, or nothing.
func headOf(line []byte) string {
	line = bytes.TrimLeft(line, " \t\r}")
	end := 0
	for end < len(line) && token.IsLetter(line[end]) {
		end++
	}
	switch {
	case isKeyword(line[:end]):
		return string(line[:end])
	case len(line) == 0:
		return ""
	case line[0] == '@':
		return "@"
	case bytes.HasPrefix(line, []byte("#include")):
		return "include"
	case bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("/*")) || bytes.HasPrefix(line, []byte("# ")) || bytes.HasPrefix(line, []byte("--")):
		return "TXT"
	}
	return ""
}

func isKeyword(word []byte) bool {
	return len(word) > 1 && bytes.Contains([]byte(keywords), append(append([]byte(" "), word...), ' '))
}

func firstByte(text []byte) byte {
	if len(text) == 0 {
		return 0
	}
	return text[0]
}

func lastByte(line []byte) byte {
	if len(line) == 0 {
		return 0
	}
	return line[len(line)-1]
}
