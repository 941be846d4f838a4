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
	for _, line := range causes(err) {
		if !slices.ContainsFunc(lines, func(before string) bool { return strings.Contains(before, line) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; and ")
}

// causes takes apart what errors.Join put together, and nothing else.
func causes(err error) []string {
	if err == context.Canceled { // nothing else ends the program's
		return []string{"interrupted"}
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	if j := errors.Join(joined.Unwrap()...); j == nil || j.Error() != err.Error() {
		return []string{err.Error()} // a sentence around several
	}
	var all []string
	for _, e := range joined.Unwrap() {
		all = append(all, causes(e)...)
	}
	return all
}
