package name

import (
	"strings"

	"al.essio.dev/pkg/shellescape"

	"muster/regress/internal/fault"
)

// Quote returns s as one word of a shell.
func Quote(s string) string { return shellescape.Quote(s) }

// QuoteAll returns the words as a shell line.
func QuoteAll(args []string) string { return shellescape.QuoteCommand(args) }

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
