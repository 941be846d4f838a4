package edit

import (
	"bytes"
	"strings"

	"muster/regress/internal/cause/pattern"
	"muster/regress/internal/cause/token"
)

// Whitespace, a bracket or a comma alone says little. Its surroundings tell the different changes
// of a formatter apart. A context is one of a few kinds or a common keyword. It never contains
// names that cases have by chance. So a change has one or a few contexts in all cases.

const (
	scanMax = 1000 // bytes searched before a place
	// keywords begin a line or stand before a bracket. Most types and constants are not in the
	// list: a formatter treats them like other words. The list in ending.go has them, because a
	// failing tool names them as what it expected.
	keywords = " assert async await break case catch class const continue def default del do elif else enum except export extends" +
		" finally fn for from func function global if impl implements import in include interface is lambda let match namespace" +
		" new not of or and package print pub public private protected raise return static struct switch throw try type typedef" +
		" union unless use using var void while with yield "
)

// gap returns the context of a gap on one side, by how the gap changed.
func (s *surroundings) gap(gap Span, change gapChange) string {
	switch {
	case change.isOfBlankLines():
		return besideBlank(s.text, gap)
	case !change.isBroken():
		return s.neighbours(gap)
	case s.inRemark(gap.From):
		return pattern.InComment
	default:
		in, isBracket := s.encloser(gap.From)
		switch {
		case in == "":
			return strings.TrimPrefix(besideBreak(s.text, gap), " ")
		case isBracket:
			in += besideBreak(s.text, gap)
		}
		return in
	}
}

// besideBreak describes the place of a line break within brackets.
func besideBreak(text []byte, gap Span) string {
	before := lastByte(text[:gap.From])
	behind := text[gap.To:min(len(text), gap.To+wordMax)]
	end := 0
	for end < len(behind) && token.IsLetter(behind[end]) {
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
		return " behind " + stringAt(bytes.Repeat([]byte{before}, trailingRun(text[:gap.From])), 0)
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

// prefixMax is the number of letters that may stand before a quote: f"…", rb"…".
const prefixMax = 2

// stringAt returns the kind of string that begins after the given number of letters: STR, long STR,
// or "". It also serves for the quotes that end a string.
func stringAt(text []byte, letters int) string {
	if letters > prefixMax || letters == len(text) || !isQuote(text[letters]) {
		return ""
	}
	if q := text[letters]; q == '`' || bytes.HasPrefix(text[letters:], []byte{q, q, q}) {
		return "long STR"
	}
	return "STR"
}

// trailingRun returns how often a text's last byte repeats at its end, at most three times.
func trailingRun(text []byte) (n int) {
	for n < min(3, len(text)) && text[len(text)-1-n] == lastByte(text) {
		n++
	}
	return n
}

// besideBlank describes the line before blank lines, or if that is nothing special, the line after
// them.
func besideBlank(text []byte, gap Span) string {
	line := lastLineOf(text, gap.From)
	head := headOf(line)
	switch last := lastByte(line); {
	case last == ':' || last == '{':
		return "behind " + head + string(last)
	case isQuote(last):
		return "behind STR"
	case head == "TXT" || head == "import" || head == "from" || head == "include" || head == "@":
		return "behind " + head
	}
	if head := headOf(text[gap.To:min(len(text), gap.To+scanMax)]); head != "" {
		return "before " + head
	}
	return ""
}

// neighbours returns what a gap within a line is in or beside: the more specific one first, and after
// a space the other sign. The finder decides on one of them, see placeSpaces.
func (s *surroundings) neighbours(gap Span) string {
	first, second := signBefore(s.text, gap.From), signAt(s.text, gap.To)
	if weight(firstByte([]byte(second))) > weight(firstByte([]byte(first))) {
		first, second = second, first
	}
	in, other := besideSign(first), besideSign(second)
	if quoted := s.quotedAt(gap.From); quoted != "" {
		in, other = quoted, in
	}
	if other == "" {
		return in
	}
	return in + pattern.OtherNeighbour + other
}

// besideSign describes a neighbour, "" for a word.
func besideSign(sign string) string {
	switch weight(firstByte([]byte(sign))) {
	case 0:
		return ""
	case quoteWeight:
		return "beside STR"
	}
	return "beside " + sign
}

// signAt returns the operator that begins at a place, or the one byte there.
func signAt(text []byte, at int) string {
	if at == len(text) {
		return ""
	}
	_, end := token.Next(text, at, min(len(text), at+operatorMax))
	return string(text[at:end])
}

// signBefore returns the operator that ends at a place, or the one byte before it.
func signBefore(text []byte, at int) string {
	for size := min(operatorMax, at); size > 1; size-- {
		if token.IsOperator(string(text[at-size : at])) {
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

// weight returns how specific a neighbour is.
func weight(c byte) int {
	switch {
	case c == 0 || token.IsSpace(c) || token.IsLetter(c) || token.IsDigit(c):
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

// loneSign returns the context of a sign that was added or removed alone. The text is that of the side that
// has it.
func (s *surroundings) loneSign(at Span, e element) string {
	if e.kind != token.Sign {
		return ""
	}
	text, from := s.text, token.SkipSpace(s.text, at.From, at.To)
	switch e.text[0] {
	case '(', '[', '{':
		return "of " + describeOpener(text, from)
	case ')', ']', '}':
		if i := s.openerOf(from); i >= 0 {
			return "of " + describeOpener(text, i)
		}
	case ',':
		if behind := token.SkipSpace(text, from+1, len(text)); behind < len(text) && bracketSign(text[behind]) < 0 {
			return "before the end of " + bracketKind(text[behind])
		}
		in, _ := s.encloser(from)
		return in
	}
	return ""
}
