package exec

import (
	"fmt"
	"slices"
	"strings"
)

// Hints names likely mistakes in a command line whose cases fail, each once.
func (c *Command) Hints() (hints []string) {
	hints = c.MisspeltTokens()
	for i, word := range c.Words {
		if !c.Shell && (i == 0 || c.Words[i-1] != "-c") { // a script follows -c
			hints = append(hints, shellHint(word)...)
		}
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// MisspeltTokens returns a hint for each word that resembles a token.
func (c *Command) MisspeltTokens() (hints []string) {
	for _, word := range c.Words {
		hints = append(hints, misspeltTokens(word)...)
	}
	slices.Sort(hints)
	return slices.Compact(hints)
}

// misspeltTokens returns a hint for each part of a word in braces that resembles a token.
func misspeltTokens(word string) (hints []string) {
	for rest := word; ; {
		_, after, open := strings.Cut(rest, "{")
		inner, _, closed := strings.Cut(after, "}")
		if !open || !closed {
			return hints
		}
		given := "{" + inner + "}"
		if token := similarToken(given); token != "" && token != given {
			hints = append(hints, fmt.Sprintf("%s is not a token: did you mean %s?", given, token))
		}
		rest = after
	}
}

// similarToken returns the token that a word in braces probably stands for, or "".
func similarToken(given string) string {
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

// oneLetterAway reports whether the texts have the same length and differ in one letter.
func oneLetterAway(a, b string) bool {
	differ := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			differ++
		}
	}
	return len(a) == len(b) && differ == 1
}

// shellHint returns a hint for an operator that only a shell understands, or for a command
// line that quotes made one word.
func shellHint(word string) []string {
	fields := strings.Fields(word)
	operator := slices.IndexFunc(fields, func(f string) bool {
		return slices.Contains([]string{"|", "||", "&&", ";", "<"}, f) || strings.HasPrefix(strings.TrimLeft(f, "12&"), ">")
	})
	switch {
	case operator >= 0:
		return []string{fmt.Sprintf("%s needs a shell: add --shell", fields[operator])}
	case len(fields) > 1 && HasToken(word):
		return []string{oneWordHint(word)}
	}
	return nil
}

func oneWordHint(word string) string {
	return fmt.Sprintf("the quotes make one word of %q: leave them out, or add --shell", word)
}
