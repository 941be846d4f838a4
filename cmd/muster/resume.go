package main

import (
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
)

// resumeLine returns the shell line that goes on with an interrupted run: the arguments again,
// with --resume. It returns "" for a command without --resume, and for arguments that may hold
// secrets.
func resumeLine(args []string) string {
	if len(args) == 0 || !slices.Contains([]string{"record", "check", "compare"}, args[0]) {
		return ""
	}
	flags := args[1:]
	if i := slices.Index(flags, "--"); i >= 0 {
		flags = flags[:i]
	}
	if slices.ContainsFunc(flags, func(a string) bool { return strings.HasPrefix(a, "--remote-header") }) {
		return ""
	}
	line := []string{"muster", args[0]}
	if !slices.Contains(flags, "--resume") {
		line = append(line, "--resume")
	}
	return shellescape.QuoteCommand(append(line, args[1:]...))
}
