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
	scanMax  = 1000 // bytes in which an opening bracket is looked for
	keywords = " assert async await break case catch class const continue def default del do elif else enum except export extends" +
		" finally fn for from func function global if impl implements import in include interface is lambda let match namespace" +
		" new not of or and package print pub public private protected raise return static struct switch throw try type typedef" +
		" union unless use using var void while with yield "
)

func isKeyword(word []byte) bool {
	return len(word) > 1 && bytes.Contains([]byte(keywords), append(append([]byte(" "), word...), ' '))
}

// gapContext returns that of a gap on one side, by what the gap is called there.
func gapContext(text []byte, gap Span, blankLine, lineBreak bool) string {
	switch {
	case blankLine:
		return besideBlank(text, gap)
	case lineBreak:
		in := encloser(text, gap.From)
		if strings.HasPrefix(in, "in ") {
			in += besideBreak(text, gap)
		}
		return in
	}
	return telling(text, gap)
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
func telling(text []byte, gap Span) string {
	if in := quotedAt(text, gap.From); in != "" {
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

// quotedAt says if a place is in a string or a comment of its line.
func quotedAt(text []byte, at int) string {
	from := max(0, at-scanMax)
	begin := bytes.LastIndexByte(text[from:at], '\n')
	if begin < 0 && from > 0 {
		return "" // too far to tell
	}
	line := text[from+begin+1 : at]
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == 0 && (bytes.HasPrefix(line[i:], []byte("//")) || bytes.HasPrefix(line[i:], []byte("/*")) || bytes.HasPrefix(line[i:], []byte("# "))):
			return "in TXT"
		case c == '\\' && quote != 0:
			i++
		case quote == 0 && isQuote(c):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	if quote != 0 {
		return "in STR"
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

// encloser says what a place stands in: a bracket and what is before that, or else the
// keyword or the sign that it stands behind.
func encloser(text []byte, at int) string {
	if i := openerOf(text, at); i >= 0 && text[i] != '{' {
		return "in " + opens(text, i)
	}
	end := at
	for end > 0 && isSpace(text[end-1]) {
		end--
	}
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

// openerOf returns where the bracket is that a place stands in, -1 for none nearby.
func openerOf(text []byte, at int) int {
	depth := 0
	for i := at - 1; i >= max(0, at-scanMax); i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth == 0 {
				return i
			}
			depth--
		}
	}
	return -1
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
	end := i
	for end > 0 && isSpace(text[end-1]) && text[end-1] != '\n' {
		end--
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

// lastLineOf returns the line that ends at a place, or that it is on, up to there.
func lastLineOf(text []byte, at int) []byte {
	for at > 0 && isSpace(text[at-1]) {
		at--
	}
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

// isIndented reports whether the line that what is at a place begins is.
func isIndented(text []byte, at int) bool { return at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') }

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

// signContext returns that of signs that were added or removed alone, at a place of the
// text that has them.
func signContext(text []byte, s Span, signs []element) string {
	if len(signs) != 1 {
		return ""
	}
	from, to := s.From, s.To
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
		if i := openerOf(text, from); i >= 0 {
			return "of " + opens(text, i)
		}
	case ',':
		if behind < len(text) && bytes.IndexByte([]byte(")]}"), text[behind]) >= 0 {
			return "before the end of " + bracketKind(text[behind])
		}
		return encloser(text, from)
	}
	return ""
}

func bracketKind(c byte) string {
	return map[byte]string{')': "(…)", ']': "[…]", '}': "{…}"}[c]
}

// saysLittle reports whether a pattern may have a context.
func saysLittle(p *pattern) bool {
	if p.sort == "s" {
		return true
	}
	for _, side := range [...][]piece{p.old, p.now} {
		for _, e := range side {
			if e.kind != sign {
				return false
			}
		}
	}
	return p.sort != "m" && (p.sort != "e" || len(p.old) == 0 || len(p.now) == 0)
}
