// Package glob matches names by patterns, for headers, context and --cases alike. A pattern without a
// slash matches the base name, any other the whole path. `*` and `?` do not match a slash. `**` between
// slashes matches any number of folders, as in src/**/x.c. `[a-z]` and `{a,b}` work as in a shell.
//
// It is pure: it must not touch a disk, nor know the purpose of a match.
package glob

import (
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Set is a compiled list of patterns. A nil Set matches nothing. It never changes after Compile,
// and any number of goroutines may use it.
type Set struct {
	patterns []pattern
}

type pattern struct {
	text  string
	image string // of text, for names that are not UTF-8, or if text is not
	base  bool   // matches the base name
	plain bool   // text is UTF-8 and can be compared with a UTF-8 name as it is
}

// Compile compiles patterns. For a malformed pattern it returns an error of class Input with the
// pattern. An empty pattern is allowed and matches nothing.
func Compile(patterns ...string) (*Set, error) {
	s := &Set{patterns: make([]pattern, 0, len(patterns))}
	for _, text := range patterns {
		p := pattern{text, image(text), !strings.Contains(text, "/"), utf8.ValidString(text)}
		if !doublestar.ValidatePattern(p.image) {
			return nil, fault.Inputf("the pattern %s is malformed: look for a '[' or '{' that is not closed, an empty '[]' or a '\\' at the end", name.Print(text))
		}
		s.patterns = append(s.patterns, p)
	}
	return s, nil
}

// Match reports whether any pattern matches the name, a cleaned path as raw
// bytes.
func (s *Set) Match(path string) bool {
	if s == nil || path == "" {
		return false
	}
	plain := utf8.ValidString(path)
	for i := range s.patterns {
		if s.patterns[i].match(path, plain) {
			return true
		}
	}
	return false
}

func (p *pattern) match(path string, plain bool) bool {
	if p.base {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	if plain && p.plain {
		return doublestar.MatchUnvalidated(p.text, path)
	}
	return doublestar.MatchUnvalidated(p.image, image(path))
}

// Match compiles one pattern for one name. Use a Set for many names.
func Match(pattern, path string) (bool, error) {
	s, err := Compile(pattern)
	if err != nil {
		return false, err
	}
	return s.Match(path), nil
}

// strayBase is the first rune for bytes that are not UTF-8. It is at the end of a private plane,
// below the last rune, which doublestar uses itself.
const strayBase = 0x10fe00

// image returns a UTF-8 string that represents s. Doublestar decodes every stray byte to the same
// replacement rune, so that `\xff` would match a name `\xfe`. In the image each stray byte has its
// own rune, and `?` matches one character or one stray byte.
func image(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			r = strayBase + rune(s[i])
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}
