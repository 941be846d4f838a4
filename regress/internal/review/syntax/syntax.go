// Package syntax finds comments, strings, numbers and keywords in source texts, by the names of their
// files, for the colours of a review in a browser. It knows families of languages and not their
// grammars: a colour may be wrong in rare texts. It reads a text once, so that no output takes long.
//
// It must not know the layout of a difference, and no analysis may use it.
package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"muster/regress/internal/plaintext"
	"muster/regress/internal/review"
)

// Bounds of a text that is coloured.
const (
	bytesMax = 256 << 10
	lineMax  = 4 << 10 // bytes of one line
)

const standardOutput = "stdout" // name of that part

// AddTokens adds the tokens to the parts whose file names belong to a language. The output on
// stdout counts as a text in the language of its source.
func AddTokens(caseName string, parts []review.Part) {
	for i := range parts {
		file := parts[i].Name
		if file == standardOutput {
			file = caseName
		}
		if l, known := languageOf(file); known {
			parts[i].OldTokens, parts[i].NowTokens = l.tokens(parts[i].Old), l.tokens(parts[i].Now)
		}
	}
}

// tokens returns the tokens of a text with a colour, in their order, or none if it is too large or not a text.
func (l *language) tokens(text []byte) []review.Token {
	if len(text) > bytesMax || !utf8.Valid(text) || !plaintext.Is(text) || hasLongLine(text) {
		return nil
	}
	var tokens []review.Token
	inTag := false
	for at := 0; at < len(text); {
		rest := text[at:]
		length, kind := l.comment(text, at), "comment"
		switch {
		case length > 0:
		case l.markup && !inTag:
			length, kind = 1, ""
			if rest[0] == '<' {
				inTag = true
				length, kind = l.tag(rest), "keyword"
			}
		default:
			if inTag = inTag && rest[0] != '>'; l.markup && !inTag {
				length, kind = 1, ""
				break
			}
			if length, kind = l.quoted(text, at), "string"; length == 0 {
				length, kind = l.word(rest)
			}
		}
		if kind != "" {
			tokens = append(tokens, review.Token{From: at, To: at + length, Kind: kind})
		}
		at += length
	}
	return tokens
}

// comment returns the length of the comment that begins at a place, or 0.
func (l *language) comment(text []byte, at int) int {
	rest := text[at:]
	for _, b := range l.block {
		if bytes.HasPrefix(rest, []byte(b[0])) {
			if end := bytes.Index(rest[len(b[0]):], []byte(b[1])); end >= 0 {
				return len(b[0]) + end + len(b[1])
			}
			return len(rest)
		}
	}
	for _, begin := range l.line {
		// The comment sign of shells is a part of a word within it, as in $#.
		if bytes.HasPrefix(rest, []byte(begin)) && (begin != "#" || at == 0 || strings.IndexByte(" \t\n(){};,", text[at-1]) >= 0) {
			return lineLength(rest)
		}
	}
	if at == 0 || text[at-1] == '\n' {
		for _, begin := range l.first {
			if len(rest) >= len(begin) && strings.EqualFold(string(rest[:len(begin)]), begin) {
				return lineLength(rest)
			}
		}
	}
	return 0
}

// quoted returns the length of the string that begins at a place, or 0.
func (l *language) quoted(text []byte, at int) int {
	rest := text[at:]
	for _, quote := range l.long {
		if bytes.HasPrefix(rest, []byte(quote)) {
			end := quote
			if quote == "[[" {
				end = "]]"
			}
			return l.stringLength(rest, len(quote), end, true)
		}
	}
	if strings.IndexByte(l.quotes, rest[0]) < 0 || at > 0 && strings.IndexByte(l.unquoted, text[at-1]) >= 0 {
		return 0
	}
	return l.stringLength(rest, 1, string(rest[:1]), false)
}

// stringLength returns the length of the string at the beginning of a text with its quotes. A string that does
// not end takes its line, or, if it may have many lines, the rest.
func (l *language) stringLength(text []byte, from int, end string, lines bool) int {
	for i := from; i < len(text); i++ {
		switch {
		case text[i] == '\\' && !l.literal && !l.markup:
			i++
		case text[i] == '\n' && !lines:
			return i
		case strings.HasPrefix(string(text[i:min(len(text), i+len(end))]), end):
			return i + len(end)
		}
	}
	return len(text)
}

// tag returns the length of the name at the beginning of a tag, with its bracket.
func (l *language) tag(text []byte) int {
	n := 1
	for n < len(text) && (text[n] == '/' || text[n] == '!' || text[n] == '?' || l.isWord(text[n])) {
		n++
	}
	return n
}

// word returns the length and the kind of the word, number or other character at the beginning of a text.
func (l *language) word(text []byte) (length int, kind string) {
	n := 0
	number := isDigit(text[0])
	for n < len(text) && (l.isWord(text[n]) || number && text[n] == '.') {
		n++
	}
	if n == 0 {
		_, n = utf8.DecodeRune(text)
		return n, ""
	}
	if number {
		return n, "number"
	}
	word := string(text[:n])
	if l.fold {
		word = strings.ToLower(word)
	}
	if strings.Contains(l.words, " "+word+" ") {
		return n, "keyword"
	}
	return n, ""
}

func (l *language) isWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c >= utf8.RuneSelf || strings.IndexByte(l.inWords, c) >= 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func lineLength(text []byte) int {
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end
	}
	return len(text)
}

func hasLongLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if len(line) > lineMax {
			return true
		}
	}
	return false
}
