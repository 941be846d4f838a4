package exec

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// TypedWords returns the words that run this executable when typed in the caller's folder.
// They are the given words, unless their name leads to another executable from there.
func (c *Command) TypedWords() []string {
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

// Script returns a shell script that does what the command does, including its input. So
// commands with different settings for shell and input can be compared as scripts.
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

// quoteAround quotes a word except its tokens, which are quoted when they are replaced.
func quoteAround(word string) string {
	if word == "" {
		return "''"
	}
	var b strings.Builder
	plain := 0 // where the unwritten rest begins
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
