package hole

import (
	"regexp"
	"strings"
)

// A token is a word, a number, a run of blanks, a recognised text such as a date, or one other
// character.
type token struct {
	class Class // Free = not recognised
	text  string
}

// Parts of recognised texts.
const (
	month = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*`
	clock = `\d\d:\d\d:\d\d(?:[.,]\d+)?`
	zone  = `(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)\b)?`
	unit  = `(?:ns|us|µs|μs|ms|s|min|m|h)`
)

// recognised has an expression for each class that a token can have. At each place the first
// that matches wins, so a date is not taken for numbers.
var recognised = [...]struct {
	class Class
	text  string
}{
	{Time, `\d{4}-\d\d-\d\d(?:[T ]` + clock + zone + `|[T ]\d\d:\d\d\b)?`},
	{Time, `(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:` + month + ` {1,2}\d{1,2},?|\d{1,2} ` + month + `,?)(?: \d{4})?(?: ` + clock + zone + `)?(?: \d{4})?\b`},
	{Time, clock + zone},
	{UUID, `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`},
	{Address, `0[xX][0-9a-fA-F]+\b`},
	{TempPath, `/(?:var/)?tmp/[^\s"'` + "`" + `<>|;:,()\[\]{}]+`},
	{Duration, `(?:\d+(?:\.\d+)?` + unit + `)+\b`},
	{Number, `\d+(?:\.\d+)?\b`},
	{Hex, `(?:[0-9a-f]{8,}|[0-9A-F]{8,})\b`},
	{Free, `[\pL\pN_]+`},
	{Free, `[ \t]+`},
	{Free, `(?s:.)`},
}

// tokenPattern has a group for each expression of recognised.
var tokenPattern = func() *regexp.Regexp {
	text := ""
	for i, r := range recognised {
		if i > 0 {
			text += "|"
		}
		text += "(" + r.text + ")"
	}
	return regexp.MustCompile(text)
}()

// tokensOf splits a text into tokens.
func tokensOf(text string) []token {
	found := tokenPattern.FindAllStringSubmatchIndex(text, -1)
	tokens := make([]token, len(found))
	for i, at := range found {
		tokens[i].text = text[at[0]:at[1]]
		for g := range recognised {
			if at[2*g+2] >= 0 {
				tokens[i].class = recognised[g].class
				break
			}
		}
	}
	return tokens
}

// shapeOf returns a line with a mark for each recognised token.
func shapeOf(line string) string {
	var b strings.Builder
	for _, t := range tokensOf(line) {
		if t.class == Free {
			b.WriteString(t.text)
		} else {
			b.WriteString(t.class.mark())
		}
	}
	return b.String()
}

// textsOf returns the texts of tokens.
func textsOf(tokens []token) []string {
	texts := make([]string, len(tokens))
	for i, t := range tokens {
		texts[i] = t.text
	}
	return texts
}

// hexDigits is the least number of digits of a token of the class Hex.
const hexDigits = 8

// isOf reports whether the text of a token is of a class. Hexadecimal digits may happen to have no
// letter.
func (t token) isOf(c Class) bool {
	return t.class == c || c == Hex && t.class == Number && len(t.text) >= hexDigits
}

// commonClass returns the narrowest class of all tokens.
func commonClass(tokens []token) Class {
	for _, c := range []Class{tokens[0].class, Hex} {
		if c != Free && allOf(tokens, c) {
			return c
		}
	}
	return Free
}

func allOf(tokens []token, c Class) bool {
	for _, t := range tokens {
		if !t.isOf(c) {
			return false
		}
	}
	return true
}
