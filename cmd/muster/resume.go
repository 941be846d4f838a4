package main

import (
	"slices"
	"strings"
	"unicode"

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
	isControl := func(a string) bool { return strings.ContainsFunc(a, unicode.IsControl) }
	if slices.ContainsFunc(flags, mayHoldSecret) || slices.ContainsFunc(args, isControl) {
		return ""
	}
	line := []string{"muster", args[0]}
	if !slices.Contains(flags, "--resume") {
		line = append(line, "--resume")
	}
	if text := shellescape.QuoteCommand(append(line, args[1:]...)); len(text) <= resumeBytesMax {
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
