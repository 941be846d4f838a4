package main

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// errorText returns an error as one line for each failure. A full disk, for example, shows in
// several places, often with the same words.
func errorText(err error) string {
	var lines []string
	for _, line := range joined(err) {
		if !slices.ContainsFunc(lines, func(before string) bool { return strings.Contains(before, line) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; and ")
}

// joined splits what errors.Join joined, and nothing else.
func joined(err error) []string {
	if err == context.Canceled { // only an interrupt cancels the program's context
		return []string{"interrupted"}
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{worded(err)}
	}
	if j := errors.Join(many.Unwrap()...); j == nil || j.Error() != err.Error() {
		return []string{worded(err)} // an error that wraps several in one sentence
	}
	var all []string
	for _, e := range many.Unwrap() {
		all = append(all, joined(e)...)
	}
	return all
}
