package exec

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// Typed returns the words that, typed in the caller's folder, run this executable: those
// that were given, unless their name leads elsewhere from there.
func (c *Command) Typed() []string {
	if c.Shell {
		return c.Words
	}
	found, err := exec.LookPath(c.Words[0])
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if at, absErr := filepath.Abs(found); err == nil && absErr == nil && at == c.Path {
		return c.Words
	}
	return append([]string{c.Path}, c.Words[1:]...)
}

// Script returns a shell's script that does what the command does, its input included:
// two commands of which one alone wants a shell, or the source on its input, are alike as
// scripts.
func (c *Command) Script() string {
	script := strings.Join(c.Words, " ")
	if !c.Shell {
		script = "exec " + shellescape.Quote(c.Path)
		for _, word := range c.Words[1:] {
			script += " " + quoteAround(word)
		}
	}
	switch {
	case c.Stdin:
		return "exec < {in}; " + script
	case !HasToken(c.Words...):
		return script + " {in}"
	}
	return script
}

// quoteAround quotes a word but for its tokens, which are quoted when they are replaced.
func quoteAround(word string) string {
	if word == "" {
		return "''"
	}
	var b strings.Builder
	plain := 0 // where what is not yet written begins
	for at := 0; at < len(word); {
		i := slices.IndexFunc(tokens[:], func(t string) bool { return strings.HasPrefix(word[at:], t) })
		if i < 0 {
			at++
			continue
		}
		if at > plain {
			b.WriteString(shellescape.Quote(word[plain:at]))
		}
		b.WriteString(tokens[i])
		at += len(tokens[i])
		plain = at
	}
	if plain < len(word) {
		b.WriteString(shellescape.Quote(word[plain:]))
	}
	return b.String()
}
