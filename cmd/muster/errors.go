package main

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// told is an error in one line for each thing that went wrong. A full disk, say,
// shows in several places, often in the same words.
func told(err error) string {
	var lines []string
	for _, line := range joined(err) {
		if !slices.ContainsFunc(lines, func(before string) bool { return strings.Contains(before, line) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; and ")
}

// joined takes apart what errors.Join put together, and nothing else.
func joined(err error) []string {
	if err == context.Canceled { // nothing else ends the program's
		return []string{"interrupted"}
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{worded(err)}
	}
	if j := errors.Join(many.Unwrap()...); j == nil || j.Error() != err.Error() {
		return []string{worded(err)} // a sentence around several
	}
	var all []string
	for _, e := range many.Unwrap() {
		all = append(all, joined(e)...)
	}
	return all
}
