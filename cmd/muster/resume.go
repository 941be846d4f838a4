package main

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"al.essio.dev/pkg/shellescape"
)

// resumeBytesMax bounds the line, because a report prints no longer command.
const resumeBytesMax = 1000

// resumeLine returns the shell line that continues an interrupted run: the same arguments, with
// --resume. It returns "" for a command without --resume, for arguments that may hold secrets,
// and for those that cannot be printed or are too long.
func resumeLine(args []string) string {
	if len(args) == 0 || !slices.Contains([]string{"record", "check", "compare"}, args[0]) {
		return ""
	}
	flags := args[1:]
	if i := slices.Index(flags, "--"); i >= 0 {
		flags = flags[:i]
	}
	cannotPrint := func(a string) bool { return !utf8.ValidString(a) || strings.ContainsFunc(a, unicode.IsControl) }
	if slices.ContainsFunc(flags, mayHoldSecret) || slices.ContainsFunc(args, cannotPrint) {
		return ""
	}
	line := append([]string{"muster", args[0]}, flags...)
	// After another flag, --resume may be that flag's value.
	if len(flags) == 0 || flags[0] != "--resume" || slices.Contains(flags, "--resume=false") {
		line = append(line, "--resume")
	}
	if text := shellescape.QuoteCommand(append(line, args[1+len(flags):]...)); len(text) <= resumeBytesMax {
		return text
	}
	return ""
}

// mayHoldSecret reports whether an argument is a flag with values that are often secrets, or an
// address with a password.
func mayHoldSecret(arg string) bool {
	return strings.HasPrefix(arg, "--remote-header") || arg == "--env" || strings.HasPrefix(arg, "--env=") ||
		strings.Contains(arg, "://") && strings.Contains(arg, "@")
}
