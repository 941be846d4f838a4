package edit

import (
	"bytes"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// surroundings answer what surrounds a place of a text. Each answer reads at most scanMax bytes before the place.
type surroundings struct{ text []byte }

// openerOf returns the place of the innermost open bracket, or -1 if none is nearby.
func (s *surroundings) openerOf(at int) int {
	closed := 0
	for i := at - 1; i >= max(0, at-scanMax); i-- {
		by := bracketSign(s.text[i])
		if by > 0 && closed == 0 {
			return i
		}
		closed -= by
	}
	return -1
}

// quoteState is what a place is in.
type quoteState struct {
	open     byte // the quote that is open on its line
	isRemark bool // a comment to the line's end
	isBlock  bool // a comment of several lines
}

// remarkEnd is how far behind a place the end of a comment is searched, in bytes. A comment without an end is
// none.
const remarkEnd = 1 << 14

// quotesAt reads the lines before a place. If a comment of several lines begins far away, a line that begins with *
// shows it.
func (s *surroundings) quotesAt(at int) (q quoteState) {
	from := max(0, at-scanMax)
	if from > 0 {
		from += bytes.IndexByte(s.text[from:at], '\n') + 1
	}
	line := bytes.TrimLeft(s.text[from:at], " \t")
	q.isBlock = len(line) > 1 && line[0] == '*' && (token.IsSpace(line[1]) || line[1] == '/')
	for i := from; i < at; i++ {
		c, next := s.text[i], byte(0)
		if i+1 < at {
			next = s.text[i+1]
		}
		switch {
		case q.isBlock && c == '*' && next == '/':
			q.isBlock = false
			i++
		case q.isBlock:
		case c == '\n':
			q = quoteState{}
		case q.isRemark:
		case q.open != 0 && c == '\\':
			i++
		case q.open != 0:
			if c == q.open {
				q.open = 0
			}
		case isQuote(c):
			q.open = c
		case c == '/' && next == '*':
			q.isBlock = true
			i++
		default:
			q.isRemark = c == '/' && next == '/' || c == '#' && next == ' '
		}
	}
	q.isBlock = q.isBlock && bytes.Contains(s.text[at:min(len(s.text), at+remarkEnd)], []byte("*/"))
	return q
}

// quotedAt returns whether a place is in a string or a comment, as a context.
func (s *surroundings) quotedAt(at int) string {
	switch q := s.quotesAt(at); {
	case q.isBlock || q.isRemark:
		return pattern.InComment
	case q.open != 0:
		return pattern.InString
	}
	return ""
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
