package tool

import (
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

const (
	blanks     = " \t\n\r"
	separators = blanks + ";&|()`<>"
)

func isScript(word string) bool { return strings.ContainsAny(word, separators) }

// scriptWords splits a shell's script into words. It tolerates unknown syntax: a word too many
// does no harm. It leaves out files that are only written to, as in > FILE.
func scriptWords(script string, nesting int) (words []string) {
	s := &splitter{rest: script[:min(len(script), scriptBytesMax)]}
	for len(words) < wordsMax {
		word, quoted, written, ok := s.next()
		if !ok {
			return words
		}
		if !written {
			words = append(words, word)
		}
		if quoted && nesting < nestingMax && isScript(word) {
			words = append(words, scriptWords(word, nesting+1)...)
		}
	}
	return words
}

// splitter reads a script word by word.
type splitter struct {
	rest    string
	written bool // the next word is the target of a redirection
}

// next returns the next word without its quotes.
func (s *splitter) next() (word string, quoted, written, ok bool) {
	s.skip()
	if s.rest == "" {
		return "", false, false, false
	}
	var b strings.Builder
	for s.rest != "" && !strings.ContainsRune(separators, rune(s.rest[0])) {
		switch c := s.rest[0]; c {
		case '\'', '"':
			quoted = true
			b.WriteString(s.quotedBy(c))
		case '\\':
			s.rest = s.rest[1:]
			s.takeByte(&b)
		case '$':
			if s.rest = s.rest[1:]; !strings.HasPrefix(s.rest, "(") { // else a command follows
				b.WriteByte(c)
			}
		default:
			s.takeByte(&b)
		}
	}
	written, s.written = s.written, false
	return b.String(), quoted, written, true
}

// skip passes over separators, and notes whether they redirect output.
func (s *splitter) skip() {
	for s.rest != "" && strings.ContainsRune(separators, rune(s.rest[0])) {
		switch c := s.rest[0]; {
		case c == '>':
			s.written = true
		case !strings.ContainsRune(blanks+"&|", rune(c)): // >&FILE and >|FILE write too
			s.written = false
		}
		s.rest = s.rest[1:]
	}
}

// takeByte moves one byte into the word.
func (s *splitter) takeByte(b *strings.Builder) {
	if s.rest != "" {
		b.WriteByte(s.rest[0])
		s.rest = s.rest[1:]
	}
}

// quotedBy reads the text between quotes. Without a closing quote it reads the rest.
func (s *splitter) quotedBy(quote byte) string {
	var b strings.Builder
	for s.rest = s.rest[1:]; s.rest != ""; {
		switch {
		case s.rest[0] == quote:
			s.rest = s.rest[1:]
			return b.String()
		case quote == '"' && s.rest[0] == '\\' && len(s.rest) > 1:
			s.rest = s.rest[1:]
		}
		s.takeByte(&b)
	}
	return b.String()
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
