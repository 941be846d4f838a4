package hole

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// A Name stands for paths that are equal but for one token. The token is a number or of another class,
// or it looks random.
type Name struct {
	before, after string
	class         Class // of the token; Free = random words of one length
	length        int   // of random words, otherwise 0
}

// Names has the names that files of one run share with files of others. The time to find the names of
// many paths grows with their number only, not with its square.
type Names map[Name]members

// members are the paths of a name.
type members struct {
	one, others int
	isMixed     bool // a word has a digit or a capital
}

// NamesOf returns the names of the paths of one run and of others. No path is in both.
func NamesOf(one, others []string) Names {
	names := Names{}
	for i, path := range slices.Concat(one, others) {
		visitNames(path, func(name Name, word string) {
			m := names[name]
			if i < len(one) {
				m.one++
			} else {
				m.others++
			}
			m.isMixed = m.isMixed || isMixed(word)
			names[name] = m
		})
	}
	maps.DeleteFunc(names, func(name Name, m members) bool {
		return m.one == 0 || m.others == 0 || name.class == Free && !m.isMixed
	})
	return names
}

// Of returns the name of a path, or the one that most paths have if several fit. The path need not be
// among those of NamesOf.
func (names Names) Of(path string) (best Name, found bool) {
	most := 0
	visitNames(path, func(name Name, _ string) {
		if m := names[name]; m.one+m.others > most {
			best, found, most = name, true, m.one+m.others
		}
	})
	return best, found
}

// placesMax bounds the tokens of a path that may vary: its last ones.
const placesMax = 32

// randomLength is the least length of a random word. mkstemp replaces six characters.
const randomLength = 6

// visitNames calls do with each name that a path may have, and with the token that is not part of it:
// the last token first, and the widest class of a token first.
func visitNames(path string, do func(name Name, word string)) {
	end, places := len(path), 0
	for _, t := range slices.Backward(tokensOf(path)) {
		name := Name{before: path[:end-len(t.text)], after: path[end:]}
		end -= len(t.text)
		if t.class == Free && len(t.text) < randomLength {
			continue
		}
		if places++; places > placesMax {
			return
		}
		for name.class = Number; name.class != Order; name.class-- {
			if t.isOf(name.class) {
				do(name, t.text)
			}
		}
		if len(t.text) >= randomLength {
			name.class, name.length = Free, len(t.text)
			do(name, t.text)
		}
	}
}

// isMixed reports whether a word has a digit or a capital, as random words have.
func isMixed(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || unicode.IsUpper(r) })
}
