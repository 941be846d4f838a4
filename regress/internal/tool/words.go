package tool

import (
	"regexp"
	"slices"
	"strings"

	"muster/regress/internal/exec"
)

// Bounds of one command line.
const (
	scriptBytesMax = 1 << 20
	wordsMax       = 10_000
	nestingMax     = 4 // scripts within quoted words
)

// wordsOf returns the words of a command that may name files, except its executable. A word
// with blanks may be a script for another shell, so the words in it count too.
func wordsOf(c *exec.Command) (words []string) {
	if c.Shell {
		return plainWords(scriptWords(strings.Join(c.Words, " "), 0))
	}
	for _, word := range c.Words[1:] {
		words = append(words, word)
		if isScript(word) {
			words = append(words, scriptWords(word, 0)...)
		}
	}
	return plainWords(words)
}

// plainWords returns the words without those that have case tokens, and without repetitions.
func plainWords(words []string) (list []string) {
	seen := map[string]bool{"": true}
	for _, word := range words {
		if !seen[word] && !exec.HasToken(word) && len(list) < wordsMax {
			list = append(list, word)
		}
		seen[word] = true
	}
	return list
}

const separators = " \t\n\r;&|()`<>"

func isScript(word string) bool { return strings.ContainsAny(word, separators) }

// Patterns of a shell's script. A quoted part may lack its end.
const (
	quotedPart = `'[^']*'?|"(?:\\.|[^"\\])*"?|\\.?`
	scriptWord = `(>[>&|]*[ \t]*)?((?:` + quotedPart + `|[^ \t\n\r;&|()` + "`" + `<>'"\\])+)`
)

// scriptWords splits a shell's script into words. It tolerates unknown syntax: a word too many
// does no harm. It leaves out files that are only written to, as in > FILE.
func scriptWords(script string, nesting int) (words []string) {
	quoted, escaped := regexp.MustCompile("(?s)"+quotedPart), regexp.MustCompile(`(?s)\\(.)`)
	unquote := func(part string) string {
		switch part[0] {
		case '\'':
			return strings.Trim(part, "'")
		case '"':
			return escaped.ReplaceAllString(strings.TrimSuffix(part[1:], `"`), "$1")
		}
		return part[1:]
	}
	script = script[:min(len(script), scriptBytesMax)]
	for _, m := range regexp.MustCompile("(?s)"+scriptWord).FindAllStringSubmatch(script, wordsMax) {
		redirection, raw := m[1], m[2]
		word := strings.TrimSuffix(quoted.ReplaceAllStringFunc(raw, unquote), "$") // $( begins a command
		if redirection == "" {
			words = append(words, word)
		}
		if len(words) >= wordsMax {
			break
		}
		if nesting < nestingMax && strings.ContainsAny(raw, `'"`) && isScript(word) {
			words = append(words, scriptWords(word, nesting+1)...)
		}
	}
	return words
}

// piecesOf returns a word, and its parts that may be paths, as in --config=FILE, @FILE,
// -IFILE and A:B.
func piecesOf(word string) []string {
	pieces := []string{word}
	add := func(piece string) {
		if piece != "" && !slices.Contains(pieces, piece) {
			pieces = append(pieces, piece)
		}
	}
	if rest, ok := strings.CutPrefix(word, "@"); ok {
		add(rest)
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		add(word[2:])
	}
	for _, piece := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=:,", r) }) {
		add(piece)
	}
	return pieces
}
