package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"muster/internal/nearest"
	"muster/internal/wording"
	"muster/regress"
)

// errorText returns an error as one line for each failure. A full disk, for example, shows in
// several places: often with the same words, or as one error that two places give words of their own.
func errorText(err error) string {
	var lines []string
	var printed []error
	for _, e := range joined(err) {
		line := worded(e)
		isPrinted := slices.ContainsFunc(printed, func(before error) bool { return isOneFailure(before, e) }) ||
			slices.ContainsFunc(lines, func(before string) bool { return strings.Contains(before, line) })
		if !isPrinted {
			lines, printed = append(lines, line), append(printed, e)
		}
	}
	return strings.Join(lines, "; and ")
}

// isOneFailure reports whether two errors wrap the same error with a class.
func isOneFailure(a, b error) bool {
	var inA, inB regress.Classified
	for errors.As(a, &inA) {
		for c := b; errors.As(c, &inB); c = errors.Unwrap(inB) {
			if inA == inB {
				return true
			}
		}
		a = errors.Unwrap(inA)
	}
	return false
}

// joined splits what errors.Join joined, and nothing else.
func joined(err error) []error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	if j := errors.Join(many.Unwrap()...); j == nil || j.Error() != err.Error() {
		return []error{err} // an error that wraps several in one sentence
	}
	var all []error
	for _, e := range many.Unwrap() {
		all = append(all, joined(e)...)
	}
	return all
}

// worded returns the text of err in muster's own words.
func worded(err error) string {
	text := wording.Of(err, valueWords)
	if errors.Is(err, context.Canceled) { // only an interrupt cancels the program's context
		text = strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
	}
	return text
}

// valueWords returns the error for a value that a flag refuses. Muster's types have texts of
// their own.
func valueWords(err error) string {
	e, is := err.(*pflag.InvalidValueError)
	if !is {
		return ""
	}
	wanted, known := map[string]string{
		"int": "a whole number, such as 4", "bool": "true or false", "duration": "a time, such as 500ms, 10s or 2m",
		"float64": "a number, such as 1.5", "int64": "a whole number, such as 4",
	}[e.GetFlag().Value.Type()]
	if !known {
		return fmt.Sprintf("--%s: %v", e.GetFlag().Name, errors.Unwrap(e))
	}
	return fmt.Sprintf("--%s %q: give it %s", e.GetFlag().Name, e.GetValue(), wanted)
}

// suggest returns a hint with the known name that is the fewest edits away, if they are few.
func suggest(name string, known []string) string {
	near := nearest.Names(name, known, 1)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near[0])
}

// engineHint says where a setting of an engine stands that is no flag.
func engineHint(name string) string {
	key := strings.TrimPrefix(name, "remote-")
	switch {
	case name == "remote-token", name == "remote-header":
		return " (others could read it: it is taken from " + variable(name) + " alone)"
	case name != "jobs" && engineKeys(&regress.Remote{}).Lookup(key) != nil:
		return fmt.Sprintf(" (it is the key %s of [engine] in %s)", key, configDefault)
	}
	return ""
}

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
