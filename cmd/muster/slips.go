package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lacksDashes reports whether the arguments contain a command with tokens but no -- before it.
func lacksDashes(args []string) bool {
	return !slices.Contains(args, "--") && slices.ContainsFunc(args, hasToken)
}

func hasToken(word string) bool {
	return slices.ContainsFunc([]string{"{in}", "{out}", "{stem}", "{name}", "{dir}"}, func(token string) bool { return strings.Contains(word, token) })
}

// redirectedTo returns the name of standard output's file if it contains a token: then the
// shell took a > that was meant for the command. Otherwise it returns "".
func redirectedTo() string {
	path, err := os.Readlink("/proc/self/fd/1")
	if name := filepath.Base(path); err == nil && hasToken(name) {
		return name
	}
	return ""
}
