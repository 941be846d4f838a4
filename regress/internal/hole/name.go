package hole

import "unicode"

// SameName reports whether paths are names of temporary files that differ in one token. The token
// is a number or of another class, or it looks random.
func SameName(paths []string) bool {
	lines := make([][]token, len(paths))
	for i, path := range paths {
		if lines[i] = tokensOf(path); len(lines[i]) != len(lines[0]) {
			return false
		}
	}
	varying := 0
	for i := range lines[0] {
		tokens := column(lines, i)
		if allEqual(tokens) {
			continue
		}
		if varying++; varying > 1 || commonClass(tokens) == Free && !areRandom(tokens) {
			return false
		}
	}
	return varying == 1
}

// randomLength is the least length of a random word. mkstemp replaces six characters.
const randomLength = 6

// areRandom reports whether words may be random: long, of one length, and with digits or capitals.
func areRandom(words []token) bool {
	mixed := false
	for _, t := range words {
		if len(t.text) < randomLength || len(t.text) != len(words[0].text) {
			return false
		}
		for _, r := range t.text {
			mixed = mixed || unicode.IsDigit(r) || unicode.IsUpper(r)
		}
	}
	return mixed
}
