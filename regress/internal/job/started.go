package job

import (
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
)

// startsAsRecorded reports whether the recorded flag, --shell or --stdin, also holds for a
// given command. It does for the same tool with other arguments.
func startsAsRecorded(c *regress.Command, flag string, m golden.Meta) bool {
	recorded := mainCommand(m)
	if len(c.Words) == 0 || len(c.ByGlob) > 0 || len(recorded) == 0 {
		return false
	}
	inShell := m.Flags["--shell"] != ""
	switch {
	case slices.Equal(c.Words, recorded):
		return true
	case inShell && !sameScriptTool(c.Words, recorded):
		return false
	case flag == "--stdin":
		return !exec.HasToken(c.Words...) && (inShell || sameExecutable(c.Words[0], recorded[0], m.Executable))
	}
	return inShell
}

// mainCommand returns the recorded command that no glob restricts.
func mainCommand(m golden.Meta) []string {
	for _, c := range m.Command {
		if c.Glob == "" {
			return c.Args
		}
	}
	return nil
}

// sameScriptTool reports whether two commands, as scripts of a shell, begin with the same
// word. A given command that was split into words which need quotes is not a script, unless
// the recorded one was split, too: joining its words would lose the quotes.
func sameScriptTool(given, recorded []string) bool {
	if len(given) > 1 && len(recorded) == 1 && slices.ContainsFunc(given, needsQuotes) {
		return false
	}
	return firstWord(given) == firstWord(recorded)
}

func firstWord(script []string) string {
	words := strings.Fields(strings.Join(script, " "))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// needsQuotes reports whether a shell would change a word. Tokens are quoted when they
// are replaced.
func needsQuotes(word string) bool {
	plain := exec.Fill(word, "x")
	return name.Quote(plain) != plain
}

// sameExecutable reports whether a word runs the recorded executable: the word is its
// recorded name, or resolves to its path.
func sameExecutable(word, recorded, path string) bool {
	if word == recorded {
		return true
	}
	found, err := exec.Locate(word)
	return err == nil && found == path
}
