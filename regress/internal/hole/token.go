package hole

import (
	"regexp"
	"slices"
	"strings"
)

// A token is a word, a number, a run of blanks, a recognised text such as a date, or one other
// character. Those of package cause/token are others: there a date is several tokens, and a quote is one.
type token struct {
	class Class // Free = not recognised
	text  string
}

// Parts of recognised texts.
const (
	month  = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b`
	day    = `(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? `
	year   = `(?: (?:19|20)\d\d\b)?`
	amPM   = ` ?[AaPp][Mm]\b`
	clock  = `\d\d?:\d\d:\d\d(?:\.\d+)?(?:` + amPM + `)?`
	zone   = `(?:Z|[+-]\d\d:?\d\d| (?:UTC|GMT))?\b`
	number = `\d+(?:\.\d+)?`
	unit   = `(?:ns|us|µs|μs|ms|s|min|m|h)`
)

// recognised has an expression for each class that a token can have. At each place the first
// that matches wins, so a date is not taken for numbers. A repetition of more than one token has a bound:
// what fails at its end is tried again at the next token.
var recognised = [...]struct {
	class Class
	text  string
}{
	{Time, `\d{4}(?:-\d\d-|/\d\d/)\d\d(?:[T ]` + clock + `(?:,\d{3}\b)?` + zone + `(?: [+-]\d{4}\b)?|[T ]\d\d:\d\d\b)?`},
	{Time, `(?:` + day + `)?(?:` + month + ` {1,2}\d{1,2},?|\d{1,2} ` + month + `,?)` + year + `(?: ` + clock + zone + `)?` + year + `\b`},
	{Time, `\d\d?/(?:\d\d?|` + month + `)/\d{4}(?:(?::|,? )` + clock + zone + `(?: [+-]\d{4}\b)?)?\b`},
	{Time, clock + zone + `|\d\d?:\d\d` + amPM},
	{UUID, `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`},
	{Address, `0[xX][0-9a-fA-F]+\b`},
	{TempPath, `/(?:var/)?tmp/[\pL\pN_.~+-]+`},
	{Duration, `(?:\d+d )?(?:\d+h )?(?:\d+m )?(?:` + number + unit + `){1,6}\b|` + number + ` (?:ns|us|µs|μs|ms|s|sec|seconds|min)\b`},
	{Number, number + `(?:[eE][+-]?\d+)?\b`},
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

// tokenizedMax bounds the text that is split into tokens, in bytes. Tokens take many times the
// memory of their text. A longer text is one token.
const tokenizedMax = 64 << 10

// tokensOf splits a text into tokens. All but one of the blanks before a number belong to it: they
// pad it to a column.
func tokensOf(text string) []token {
	if len(text) > tokenizedMax {
		return []token{{Free, text}}
	}
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
		if i > 0 && (tokens[i].class == Number || tokens[i].class == Duration) {
			pad(&tokens[i-1], &tokens[i], text[:at[1]])
		}
	}
	return tokens
}

// pad moves all but one of the blanks of a token to the number that follows. text ends with it.
func pad(blanks, number *token, text string) {
	if n := len(blanks.text); n > 1 && strings.Trim(blanks.text, " ") == "" {
		blanks.text = blanks.text[:1]
		number.text = text[len(text)-len(number.text)-n+1:]
	}
}

// shapeOf returns the text of a line with a mark for each recognised token. The mark has a NUL, which no text has:
// lines of one shape have as many tokens, even if a line has the text of a mark for people.
func shapeOf(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		if t.class == Free {
			b.WriteString(t.text)
		} else {
			b.WriteString("\x00" + string('0'+rune(t.class)))
		}
	}
	return b.String()
}

// shapesIn returns the shapes of lines.
func shapesIn(lines []string) []string {
	shapes := make([]string, len(lines))
	for i, line := range lines {
		shapes[i] = shapeOf(tokensOf(line))
	}
	return shapes
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

// isOf reports whether a token belongs to a class. A long number belongs to Hex, too.
func (t token) isOf(c Class) bool {
	return t.class == c || c == Hex && t.class == Number && len(t.text) >= hexDigits
}

// commonClass returns the narrowest class of all tokens.
func commonClass(tokens []token) Class {
	for _, c := range []Class{tokens[0].class, Hex} {
		if c != Free && !slices.ContainsFunc(tokens, func(t token) bool { return !t.isOf(c) }) {
			return c
		}
	}
	return Free
}
