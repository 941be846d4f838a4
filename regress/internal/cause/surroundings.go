package cause

import "bytes"

// surroundings are a text with what is known of where a place in it is, for the places
// that are asked for, mostly one behind the other, lie in the same brackets and strings.
type surroundings struct {
	text   []byte
	opened brackets
	quoted quotes
}

// brackets are those that are open at a place, the innermost last.
type brackets struct {
	at   int
	open []int
}

// openerOf returns where the bracket is that a place stands in, -1 for none nearby.
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
			if len(b.open) > 2*scanMax { // those before are too far away
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

// quotes are what a line is in at a place: what the quote is that is open, and whether a
// comment has begun.
type quotes struct {
	begin, to, at int // of the line; up to where it has no end; up to where this is known
	open          byte
	remark        bool
}

// quotedAt says if a place is in a string or a comment of its line.
func (s *surroundings) quotedAt(at int) string {
	q := &s.quoted
	if at < q.to || at > q.begin+scanMax || bytes.IndexByte(s.text[q.to:at], '\n') >= 0 {
		from := max(0, at-scanMax)
		begin := bytes.LastIndexByte(s.text[from:at], '\n')
		if begin < 0 && from > 0 {
			return "" // too far to tell
		}
		*q = quotes{begin: from + begin + 1, at: from + begin + 1}
	}
	q.to = at
	q.goOn(s.text[:at])
	switch {
	case q.remark:
		return "in TXT"
	case q.open != 0:
		return "in STR"
	}
	return ""
}

// goOn looks at the rest of a text.
func (q *quotes) goOn(text []byte) {
	for ; q.at < len(text) && !q.remark; q.at++ {
		switch c := text[q.at]; {
		case q.open != 0 && c == '\\':
			q.at++
		case q.open != 0:
			if c == q.open {
				q.open = 0
			}
		case isQuote(c):
			q.open = c
		case c == '/' || c == '#':
			if q.at+1 == len(text) { // what it begins is behind
				return
			}
			next := text[q.at+1]
			q.remark = c == '/' && (next == '/' || next == '*') || c == '#' && next == ' '
		}
	}
}

// spaceBefore returns where the whitespace begins that ends at a place, or as far as it is
// looked at.
func spaceBefore(text []byte, at int) int {
	for to := max(0, at-scanMax); at > to && isSpace(text[at-1]); {
		at--
	}
	return at
}

// encloser says what a place stands in: a bracket and what is before that, or else the
// keyword or the sign that it stands behind.
func (s *surroundings) encloser(at int) string {
	text := s.text
	if i := s.openerOf(at); i >= 0 && text[i] != '{' {
		return "in " + opens(text, i)
	}
	end := spaceBefore(text, at)
	from := end
	for from > 0 && isLetter(text[from-1]) {
		from--
	}
	switch {
	case isKeyword(text[from:end]):
		return "behind " + string(text[from:end])
	case end > 0 && weight(text[end-1]) > 0 && !isQuote(text[end-1]):
		return "behind " + string(text[end-1])
	}
	return ""
}

// opens says what the bracket at i is: that of a call, of an index, or of what is before.
func opens(text []byte, i int) string {
	closed := map[byte]string{'(': "(…)", '[': "[…]", '{': "{…}"}[text[i]]
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
	for from > 0 && (isLetter(text[from-1]) || isDigit(text[from-1])) {
		from--
	}
	switch {
	case from < end && isKeyword(text[from:end]):
		return string(text[from:end]) + " " + closed
	case from < end && end == i:
		return "f" + closed
	case end > 0 && text[end-1] == '=' && end > 1 && weight(text[end-2]) == 4:
		return string(text[end-2:end]) + " " + closed
	case end > 0 && text[end-1] == '=':
		return "= " + closed
	}
	if head := headOf(lastLineOf(text, i)); head != "" && head != "TXT" {
		return head + " … " + closed
	}
	return closed
}

func bracketKind(c byte) string {
	return map[byte]string{')': "(…)", ']': "[…]", '}': "{…}"}[c]
}

// lastLineOf returns the line that ends at a place, or that it is on, up to there.
func lastLineOf(text []byte, at int) []byte {
	at = spaceBefore(text, at)
	from := max(0, at-scanMax)
	return text[from+bytes.LastIndexByte(text[from:at], '\n')+1 : at]
}

// headOf returns the keyword that a line begins with, TXT if that is a comment, @, or
// nothing of the kind.
func headOf(line []byte) string {
	line = bytes.TrimLeft(line, " \t\r}")
	end := 0
	for end < len(line) && isLetter(line[end]) {
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
