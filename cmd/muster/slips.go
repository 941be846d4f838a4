package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lacksDashes reports whether a command with tokens stands among arguments without a -- before
// it.
func lacksDashes(args []string) bool {
	return !slices.Contains(args, "--") && slices.ContainsFunc(args, hasToken)
}

func hasToken(word string) bool {
	return slices.ContainsFunc([]string{"{in}", "{out}", "{stem}", "{name}", "{dir}"}, func(token string) bool { return strings.Contains(word, token) })
}

// redirectedTo returns the name of a file with a token that standard output goes to: the shell
// took a > that the command was to have. It returns "" if there is none.
func redirectedTo() string {
	path, err := os.Readlink("/proc/self/fd/1")
	if name := filepath.Base(path); err == nil && hasToken(name) {
		return name
	}
	return ""
}
