package cause

import (
	"bytes"
	"strings"
)

// Whitespace, a bracket or a comma says little by itself: what it stands in or beside
// tells the changes apart that a formatter makes. A context is of a few kinds and of the
// usual keywords of languages, and of nothing that the cases have by chance, so that a
// change has one context, or a few, whatever it is seen in.

const (
	scanMax  = 1000 // bytes before a place that are looked at
	keywords = " assert async await break case catch class const continue def default del do elif else enum except export extends" +
		" finally fn for from func function global if impl implements import in include interface is lambda let match namespace" +
		" new not of or and package print pub public private protected raise return static struct switch throw try type typedef" +
		" union unless use using var void while with yield "
)

// gap returns the context of a gap on one side, by what the gap is called there.
func (s *surroundings) gap(gap Span, blankLine, lineBreak bool) string {
	switch {
	case blankLine:
		return besideBlank(s.text, gap)
	case lineBreak:
		in := s.encloser(gap.From)
		if strings.HasPrefix(in, "in ") {
			in += besideBreak(s.text, gap)
		}
		return in
	}
	return s.telling(gap)
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
	case weight(first) == 4 || weight(before) == 4:
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
	before, behind := byte(0), byte(0)
	if gap.From > 0 {
		before = text[gap.From-1]
	}
	if gap.To < len(text) {
		behind = text[gap.To]
	}
	best, most := byte(0), 0
	for _, c := range [...]byte{before, behind} {
		if v := weight(c); v > most {
			best, most = c, v
		}
	}
	switch {
	case isQuote(best):
		return "beside STR"
	case most > 0:
		return "beside " + string(best)
	}
	return ""
}

// weight says how much a neighbour tells.
func weight(c byte) int {
	switch {
	case c == 0 || isSpace(c) || isLetter(c) || isDigit(c):
		return 0
	case isQuote(c):
		return 3
	case bytes.IndexByte([]byte("()[]{}"), c) >= 0:
		return 1
	case c == ',' || c == ';':
		return 2
	}
	return 4
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
		return s.encloser(from)
	}
	return ""
}
