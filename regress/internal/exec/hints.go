package exec

import (
	"fmt"
	"slices"
	"strings"
)

// Hints names likely mistakes in a command line whose cases fail, each once.
func (c *Command) Hints() (hints []string) {
	hints = c.Misspelt()
	for i, word := range c.Words {
		if !c.Shell && (i == 0 || c.Words[i-1] != "-c") { // after -c stands a script
			hints = append(hints, shellHint(word)...)
		}
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// Misspelt names words of a command line that resemble a token, each once.
func (c *Command) Misspelt() (hints []string) {
	for _, word := range c.Words {
		hints = append(hints, misspelt(word)...)
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// misspelt finds words in braces that resemble a token.
func misspelt(word string) (hints []string) {
	for rest := word; ; {
		_, after, open := strings.Cut(rest, "{")
		inner, _, closed := strings.Cut(after, "}")
		if !open || !closed {
			return hints
		}
		given := "{" + inner + "}"
		if token := resembled(given); token != "" && token != given {
			hints = append(hints, fmt.Sprintf("%s is no token: did you mean %s?", given, token))
		}
		rest = after
	}
}

// resembled returns the token that a word in braces probably stands for, or "".
func resembled(given string) string {
	given = strings.ToLower(given)
	switch given {
	case "{}", "{file}", "{source}", "{src}", "{path}":
		return "{in}"
	}
	for _, t := range tokens {
		if strings.HasPrefix(given, strings.TrimSuffix(t, "}")) {
			return t
		}
	}
	for _, t := range tokens {
		if oneLetterAway(given, t) {
			return t
		}
	}
	return ""
}

// oneLetterAway reports whether the texts are of one length and differ in one letter.
func oneLetterAway(a, b string) bool {
	differ := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			differ++
		}
	}
	return len(a) == len(b) && differ == 1
}

// shellHint finds an operator that only a shell understands, or a command line that quotes
// made one word.
func shellHint(word string) []string {
	fields := strings.Fields(word)
	operator := slices.IndexFunc(fields, func(f string) bool {
		return slices.Contains([]string{"|", "||", "&&", ";", "<"}, f) || strings.HasPrefix(strings.TrimLeft(f, "12&"), ">")
	})
	switch {
	case operator >= 0:
		return []string{fmt.Sprintf("%s needs a shell: add --shell", fields[operator])}
	case len(fields) > 1 && HasToken(word):
		return []string{oneWord(word)}
	}
	return nil
}

func oneWord(word string) string {
	return fmt.Sprintf("the quotes make one word of %q: leave them out, or add --shell", word)
}
