// Package token divides a text into words, numbers and signs, each with the whitespace before it. It
// knows web addresses, rules such as ---, and character references of markup, which are one token each.
//
// It is pure. It knows only signs that mean the same in most languages: package edit decides what is a
// string or a comment.
package token

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Token is a word, a number or a sign, with the whitespace before it: [Gap, From).
type Token struct {
	Gap, From, To int32
	Kind          Kind
	Key           uint64
}

// Kind is the kind of a token or of an element. In a pattern it is the first byte of an element.
type Kind byte

const (
	Word   Kind = 'w'
	Number Kind = 'n'
	Sign   Kind = 'p'
	// Of elements only:
	Quoted Kind = 'S' // any string
	Remark Kind = 'T' // the text of a comment
	Length Kind = 'L' // a number of elements that are left out
	Slot   Kind = '$' // any word, by number
	Digits Kind = '#' // any number, by number
	Inner  Kind = '~' // the middle of a word
)

// Append appends the tokens of text between gap and to. It splits digits off words, so that a
// suffix is a token of its own. Quotes are signs.
func Append(tokens []Token, text []byte, gap, to int) []Token {
	for at := gap; ; {
		if at = SkipSpace(text, at, to); at == to {
			return tokens
		}
		k, end := Next(text, at, to)
		key := uint64(KeySeed)
		for _, c := range text[at:end] {
			key = (key ^ uint64(c)) * KeyPrime
		}
		tokens = append(tokens, Token{int32(gap), int32(at), int32(end), k, Mix(key)})
		gap, at = end, end
	}
}

// Next returns the kind and the end of the token that begins at from.
func Next(text []byte, from, to int) (Kind, int) {
	c := text[from]
	switch {
	case IsDigit(c) || isHexLetter(c):
		if end, ok := hexEnd(text, from, to); ok {
			return Number, end
		}
		if IsDigit(c) {
			return Number, numberEnd(text, from, to)
		}
		fallthrough
	case IsLetter(c):
		if end := addressEnd(text, from, to); end > from {
			return Word, end
		}
		if end := wordEnd(text, from, to); end > from {
			return Word, end
		}
		_, size := utf8.DecodeRune(text[from:to])
		return Sign, from + size
	case c == '&':
		if end := entityEnd(text, from, to); end > from {
			return Sign, end
		}
	case c == '>' && endsTag(text, from):
		return Sign, from + 1
	case bytes.IndexByte([]byte("-=~"), c) >= 0:
		end := from + 1
		for end < to && text[end] == c {
			end++
		}
		if end-from >= RuleMin {
			return Sign, end
		}
	}
	for size := min(3, to-from); size > 1; size-- {
		if IsOperator(string(text[from : from+size])) {
			return Sign, from + size
		}
	}
	return Sign, from + 1
}

// endsTag reports whether the > at a place ends a tag of markup: behind a quoted attribute, or a short name
// behind <. What follows it is text, so >= there is no operator.
func endsTag(text []byte, at int) bool {
	if at == 0 || text[at-1] == '"' || text[at-1] == '\'' {
		return at > 0
	}
	from := at
	for from > 0 && at-from < tagNameMax && text[from-1] < utf8.RuneSelf && (IsLetter(text[from-1]) || IsDigit(text[from-1])) {
		from--
	}
	return from < at && from > 0 && (text[from-1] == '<' || from > 1 && text[from-1] == '/' && text[from-2] == '<')
}

// tagNameMax bounds the names of tags without attributes.
const tagNameMax = 20

// wordEnd returns the end of the letters from a place on. Beyond ASCII, punctuation, symbols and spaces
// are no letters: a typographic quote is a sign like a straight one.
func wordEnd(text []byte, at, to int) int {
	for at < to && IsLetter(text[at]) {
		size := 1
		if text[at] >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRune(text[at:to]); IsMark(r) {
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
	end := 0
	for r, size := rune(0), 0; end < len(rest); end += size {
		// In markup an address ends before &lt; and has &amp; inside.
		if r, size = utf8.DecodeRune(rest[end:]); IsMark(r) || strings.ContainsRune(" \t\n\r\"'`<>()[]{}|\\^", r) ||
			r == '&' && entityEnd(rest, end, len(rest)) > end && !bytes.HasPrefix(rest[end:], []byte("&amp;")) {
			break
		}
	}
	end = len(bytes.TrimRight(rest[:end], ".,;:!?*_"))
	if end <= scheme {
		return from
	}
	return from + end
}

// IsMark reports whether a character beyond ASCII is no letter.
func IsMark(r rune) bool {
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
	for at < to && at < from+entityMax && (IsDigit(text[at]) || text[at] < 0x80 && text[at] != '_' && IsLetter(text[at])) {
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

// IsOperator reports whether several signs are one token in most languages.
func IsOperator(s string) bool {
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
	if from > 0 && (IsLetter(text[from-1]) || IsDigit(text[from-1])) {
		return 0, false
	}
	at, prefixed := from, false
	if at+2 < to && text[at] == '0' && text[at+1]|0x20 == 'x' {
		at, prefixed = at+2, true
	}
	first, letters := at, 0
	for at < to && (IsDigit(text[at]) || isHexLetter(text[at])) {
		if !IsDigit(text[at]) {
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
	return at, at == to || !IsLetter(text[at])
}

func numberEnd(text []byte, from, to int) int {
	at := DigitsEnd(text, from, to)
	if at+1 < to && text[at] == '.' && IsDigit(text[at+1]) {
		at = DigitsEnd(text, at+1, to)
	}
	if at < to && text[at]|0x20 == 'e' {
		exponent := at + 1
		if exponent < to && (text[exponent] == '+' || text[exponent] == '-') {
			exponent++
		}
		if end := DigitsEnd(text, exponent, to); end > exponent && (end == to || !IsLetter(text[end])) {
			return end
		}
	}
	return at
}

// DigitsEnd returns the end of the digits from a place on.
func DigitsEnd(text []byte, at, to int) int {
	for at < to && IsDigit(text[at]) {
		at++
	}
	return at
}

func isHexLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'f' }

// IsDigit reports whether a byte is an ASCII digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsLetter reports whether a byte is part of a word. Bytes beyond ASCII are, unless IsMark says otherwise.
func IsLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }

// RuleMin is the least length of a rule, such as ---, in characters.
const RuleMin = 3

// Bytes returns the text of a token.
func (t Token) Bytes(text []byte) []byte { return text[t.From:t.To] }

// SkipSpace returns the place of the next byte that is not whitespace.
func SkipSpace(b []byte, at, to int) int {
	for at < to && IsSpace(b[at]) {
		at++
	}
	return at
}

// IsSpace reports whether a byte is white space.
func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// FNV, with a last step that mixes high bits into low ones. Two contents with the same key are
// taken as equal. Package edit detects such collisions.
const (
	KeySeed  = 14695981039346656037
	KeyPrime = 1099511628211
)

// Mix is the last step of a key.
func Mix(key uint64) uint64 { return key ^ key>>29 }
