package name

import (
	"regexp"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"muster/regress/internal/fault"
)

// Quote returns s as one word of a shell.
func Quote(s string) string { return shellescape.Quote(s) }

// QuoteAll returns the words as a shell line.
func QuoteAll(args []string) string { return shellescape.QuoteCommand(args) }

// plainWord matches words that need no quotes. It matches tokens such as {in}, which a shell leaves
// alone, but not {a,b} or {1..3}, which a shell expands.
var plainWord = regexp.MustCompile(`^([\w@%+=:,./-]|\{\w+\})+$`)

// QuoteCommand returns the words of a command as a shell line. Unlike QuoteAll, it does not quote tokens.
// So the line is easier to read, even when it is quoted itself.
func QuoteCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !plainWord.MatchString(word) {
			quoted[i] = Quote(word)
		}
	}
	return strings.Join(quoted, " ")
}

// ParseTyped reads the name of a case as people type it: in the form of Print, or as a shell
// completes it, with "./" or a doubled slash. Its errors are of class fault.Input.
func ParseTyped(printed string) (string, error) {
	raw, err := Parse(printed)
	if err == nil {
		raw, err = Clean(raw)
	}
	if err != nil {
		return "", fault.Inputf("%w", err)
	}
	return raw, nil
}

// Typed returns the form of a name to type on a command line. A name that begins with "-" gets
// "./", because it would otherwise be a flag.
func Typed(raw string) string {
	if strings.HasPrefix(raw, "-") {
		return "./" + Print(raw)
	}
	return Print(raw)
}
