package cause

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A token is a word, a number or a sign, with the whitespace before it: [gap, from).
type token struct {
	gap, from, to int32
	kind          kind
	key           uint64
}

// kind is the kind of a token or of an element. In a pattern it is the first byte of an element.
type kind byte

const (
	word   kind = 'w'
	number kind = 'n'
	sign   kind = 'p'
	// Of elements only:
	quoted kind = 'S' // any string
	remark kind = 'T' // the text of a comment
	length kind = 'L' // a number of elements that are left out
	slot   kind = '$' // any word, by number
	digits kind = '#' // any number, by number
	inner  kind = '~' // the middle of a word
)

// tokenize appends the tokens of text between gap and to. It splits digits off words, so that a
// suffix is a token of its own. Quotes are signs.
func tokenize(tokens []token, text []byte, gap, to int) []token {
	for at := gap; ; {
		if at = skipSpace(text, at, to); at == to {
			return tokens
		}
		k, end := next(text, at, to)
		key := uint64(keySeed)
		for _, c := range text[at:end] {
			key = (key ^ uint64(c)) * keyPrime
		}
		tokens = append(tokens, token{int32(gap), int32(at), int32(end), k, mix(key)})
		gap, at = end, end
	}
}

// next returns the kind and the end of the token that begins at from.
func next(text []byte, from, to int) (kind, int) {
	c := text[from]
	switch {
	case isDigit(c) || isHexLetter(c):
		if end, ok := hexEnd(text, from, to); ok {
			return number, end
		}
		if isDigit(c) {
			return number, numberEnd(text, from, to)
		}
		fallthrough
	case isLetter(c):
		if end := addressEnd(text, from, to); end > from {
			return word, end
		}
		if end := wordEnd(text, from, to); end > from {
			return word, end
		}
		_, size := utf8.DecodeRune(text[from:to])
		return sign, from + size
	case c == '&':
		if end := entityEnd(text, from, to); end > from {
			return sign, end
		}
	}
	for size := min(3, to-from); size > 1; size-- {
		if isOperator(string(text[from:from+size])) && !(size == 2 && from+2 < to && isRemarkAt(text[from:from+3])) {
			return sign, from + size
		}
	}
	return sign, from + 1
}

// wordEnd returns the end of the letters from a place on. Beyond ASCII, punctuation, symbols and spaces
// are no letters: a typographic quote is a sign like a straight one.
func wordEnd(text []byte, at, to int) int {
	for at < to && isLetter(text[at]) {
		size := 1
		if text[at] >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRune(text[at:to]); isMark(r) {
				return at
			}
		}
		at += size
	}
	return at
}

// addressEnd returns the end of an address such as https://example.org/a?b=1#c, without the signs that end
// a sentence, or from if there is none.
func addressEnd(text []byte, from, to int) int {
	rest := text[from:to]
	scheme := len("https://")
	switch {
	case bytes.HasPrefix(rest, []byte("https://")):
	case bytes.HasPrefix(rest, []byte("http://")):
		scheme--
	default:
		return from
	}
	end := bytes.IndexAny(rest, " \t\n\r\"'`<>()[]{}|\\^")
	if end < 0 {
		end = len(rest)
	}
	end = len(bytes.TrimRight(rest[:end], ".,;:!?*_"))
	if end <= scheme {
		return from
	}
	return from + end
}

// isMark reports whether a character beyond ASCII is no letter.
func isMark(r rune) bool {
	return r >= utf8.RuneSelf && r != utf8.RuneError && unicode.In(r, unicode.Punct, unicode.Symbol, unicode.Space)
}

// entityEnd returns the end of the character reference of a markup language that begins at from, such
// as &quot; or &#39;, or from if there is none. It knows those that escape signs: other names may be
// variables of C.
func entityEnd(text []byte, from, to int) int {
	at := from + 1
	isNumber := at < to && text[at] == '#'
	if isNumber {
		at++
	}
	first := at
	for at < to && at < from+entityMax && (isDigit(text[at]) || text[at] < 0x80 && text[at] != '_' && isLetter(text[at])) {
		at++
	}
	if at == first || at == to || text[at] != ';' {
		return from
	}
	if isNumber || slices.Contains([]string{"amp", "lt", "gt", "quot", "apos", "nbsp"}, string(text[first:at])) {
		return at + 1
	}
	return from
}

const entityMax = 10 // bytes

// isRemarkAt reports whether three bytes are a < and the beginning of a comment, not of an end tag.
func isRemarkAt(b []byte) bool { return b[0] == '<' && b[1] == '/' && (b[2] == '/' || b[2] == '*') }

func isOperator(s string) bool {
	switch s {
	case "<<=", ">>=", "...", "===", "!==", "**=", "<=>", "&&=", "||=", "??=",
		"==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
		"->", "::", "=>", "//", "/*", "*/", "??", "?.", "**", ":=", "..", "</", "/>":
		return true
	}
	return false
}

// hexEnd returns the end of 0x…, or of a likely digest or address: at least eight characters with
// two digits and a letter among them.
func hexEnd(text []byte, from, to int) (int, bool) {
	if from > 0 && (isLetter(text[from-1]) || isDigit(text[from-1])) {
		return 0, false
	}
	at, prefixed := from, false
	if at+2 < to && text[at] == '0' && text[at+1]|0x20 == 'x' {
		at, prefixed = at+2, true
	}
	first, letters := at, 0
	for at < to && (isDigit(text[at]) || isHexLetter(text[at])) {
		if !isDigit(text[at]) {
			letters++
		}
		at++
	}
	switch size := at - first; {
	case prefixed:
		return at, size > 0
	case size < 8 || letters == 0 || size-letters < 2:
		return 0, false
	}
	return at, at == to || !isLetter(text[at])
}

func numberEnd(text []byte, from, to int) int {
	at := digitsEnd(text, from, to)
	if at+1 < to && text[at] == '.' && isDigit(text[at+1]) {
		at = digitsEnd(text, at+1, to)
	}
	if at < to && text[at]|0x20 == 'e' {
		exponent := at + 1
		if exponent < to && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if end := digitsEnd(text, exponent, to); end > exponent && (end == to || !isLetter(text[end])) {
			return end
		}
	}
	return at
}

func digitsEnd(text []byte, at, to int) int {
	for at < to && isDigit(text[at]) {
		at++
	}
	return at
}

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isHexLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'f' }
func isLetter(c byte) bool    { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
