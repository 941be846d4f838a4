package cause

import (
	"bytes"
	"cmp"
	"strings"
)

// Whitespace, a bracket or a comma says little by itself: what it stands in or beside
// tells the changes apart that a formatter makes. A context is of a few kinds and of the
// usual keywords of languages, and of nothing that the cases have by chance, so that a
// change has one context, or a few, whatever it is seen in.

const (
	scanMax = 1000 // bytes before a place that are looked at
	// keywords are those that begin a line or stand before a bracket. Most types, and constants, do
	// not: a formatter treats them like other words. They do count in what a tool quotes when
	// it fails (keyword in ending.go), where it names what it expected.
	keywords = " assert async await break case catch class const continue def default del do elif else enum except export extends" +
		" finally fn for from func function global if impl implements import in include interface is lambda let match namespace" +
		" new not of or and package print pub public private protected raise return static struct switch throw try type typedef" +
		" union unless use using var void while with yield "
)

// gap returns the context of a gap on one side, by how it changed.
func (s *surroundings) gap(gap Span, change gapChange) string {
	switch {
	case change.isOfBlankLines():
		return besideBlank(s.text, gap)
	case s.inRemark(gap.From):
		return inComment
	case change.isBroken():
		in, isBracket := s.encloser(gap.From)
		switch {
		case in == "":
			return cmp.Or(strings.TrimPrefix(besideBreak(s.text, gap), " "), lineEnd(s.text, gap.To))
		case isBracket:
			in += besideBreak(s.text, gap)
		}
		return in
	}
	return s.telling(gap)
}

// lineEnd says what the line ends with that a place is on: a line break that is in no
// bracket divides a statement, or what a body follows.
func lineEnd(text []byte, at int) string {
	line := text[at:min(len(text), at+scanMax)]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	switch c := lastByte(bytes.TrimRight(line, " \t\r")); c {
	case ';', '{', ':', ',':
		return "before … " + string(c)
	}
	return ""
}

// besideBreak says at what sort of place a line within brackets is broken.
func besideBreak(text []byte, gap Span) string {
	before := lastByte(text[:gap.From])
	behind := text[gap.To:min(len(text), gap.To+wordMax)]
	end := 0
	for end < len(behind) && isLetter(behind[end]) {
		end++
	}
	first := firstByte(behind)
	opened, closed := bytes.IndexByte([]byte("([{"), before) >= 0, bytes.IndexByte([]byte(")]}"), first) >= 0
	switch next := stringAt(behind, end); {
	case before == ',':
		return " behind ,"
	case opened && next != "":
		return " before " + next
	case closed && isQuote(before):
		return " behind " + stringAt(bytes.Repeat([]byte{before}, endRun(text[:gap.From])), 0)
	case opened:
	case isQuote(before) && next != "":
		return " between STR"
	case isKeyword(behind[:end]):
		return " before " + string(behind[:end])
	case weight(first) == operatorWeight || weight(before) == operatorWeight:
		return " beside an operator"
	}
	return ""
}

// prefixMax is how many letters may stand before a quote: f"…", rb"…".
const prefixMax = 2

// stringAt says whether a string begins behind so many letters: one that may have many
// lines, or another; or whether one ends with this.
func stringAt(text []byte, letters int) string {
	if letters > prefixMax || letters == len(text) || !isQuote(text[letters]) {
		return ""
	}
	if q := text[letters]; q == '`' || bytes.HasPrefix(text[letters:], []byte{q, q, q}) {
		return "long STR"
	}
	return "STR"
}

// endRun returns how many bytes like the last a text ends with, of three at most.
func endRun(text []byte) (n int) {
	for n < min(3, len(text)) && text[len(text)-1-n] == lastByte(text) {
		n++
	}
	return n
}

// besideBlank says what stands before blank lines, or if this is nothing special, behind.
func besideBlank(text []byte, gap Span) string {
	line := lastLineOf(text, gap.From)
	head := headOf(line)
	switch last := lastByte(line); {
	case last == ':' || last == '{':
		return "behind " + head + string(last)
	case isQuote(last) && isIndented(text, gap.To):
		return "behind STR, indented"
	case isQuote(last):
		return "behind STR"
	case head == "TXT" || head == "import" || head == "from" || head == "include" || head == "@":
		return "behind " + head
	}
	indented := ""
	if isIndented(text, gap.To) {
		indented = "indented"
	}
	if head := headOf(text[gap.To:min(len(text), gap.To+scanMax)]); head != "" {
		return strings.TrimSuffix("before "+head+", "+indented, ", ")
	}
	return indented
}

// telling returns which of the two neighbours of a gap within a line says more.
func (s *surroundings) telling(gap Span) string {
	text := s.text
	if in := s.quotedAt(gap.From); in != "" {
		return in
	}
	best, most := "", 0
	for _, sign := range [...]string{signBefore(text, gap.From), signAt(text, gap.To)} {
		if v := weight(firstByte([]byte(sign))); v > most {
			best, most = sign, v
		}
	}
	switch most {
	case 0:
		return ""
	case quoteWeight:
		return "beside STR"
	}
	return "beside " + best
}

// signAt returns the whole operator that a place begins with, or else its one byte.
func signAt(text []byte, at int) string {
	if at == len(text) {
		return ""
	}
	_, end := next(text, at, min(len(text), at+operatorMax))
	return string(text[at:end])
}

// signBefore returns the whole operator that ends at a place, or else its one byte.
func signBefore(text []byte, at int) string {
	for size := min(operatorMax, at); size > 1; size-- {
		if isOperator(string(text[at-size : at])) {
			return string(text[at-size : at])
		}
	}
	return string(text[max(0, at-1):at])
}

const (
	quoteWeight    = 3
	operatorWeight = 4
	operatorMax    = 3 // bytes
)

// weight says how much a neighbour tells.
func weight(c byte) int {
	switch {
	case c == 0 || isSpace(c) || isLetter(c) || isDigit(c):
		return 0
	case isQuote(c):
		return quoteWeight
	case bytes.IndexByte([]byte("()[]{}"), c) >= 0:
		return 1
	case c == ',' || c == ';':
		return 2
	}
	return operatorWeight
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isIndented reports whether the line that what is at a place begins is.
func isIndented(text []byte, at int) bool { return at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') }

// saysLittle reports whether a pattern may have a context.
func saysLittle(p *pattern) bool {
	if p.sort == sortSpace {
		return true
	}
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			if e.kind != sign {
				return false
			}
		}
	}
	return p.sort != sortMove && (p.sort != sortEdit || len(p.old) == 0 || len(p.now) == 0)
}

// signs returns the context of signs that were added or removed alone, at a place of the
// text that has them.
func (s *surroundings) signs(at Span, signs []element) string {
	text := s.text
	if len(signs) != 1 {
		return ""
	}
	from, to := at.From, at.To
	for from < to && isSpace(text[from]) {
		from++
	}
	behind := from + 1
	for behind < len(text) && isSpace(text[behind]) {
		behind++
	}
	switch signs[0].text[0] {
	case '(', '[', '{':
		return "of " + opens(text, from)
	case ')', ']', '}':
		if i := s.openerOf(from); i >= 0 {
			return "of " + opens(text, i)
		}
	case ',':
		if behind < len(text) && bytes.IndexByte([]byte(")]}"), text[behind]) >= 0 {
			return "before the end of " + bracketKind(text[behind])
		}
		in, _ := s.encloser(from)
		return in
	}
	return ""
}
