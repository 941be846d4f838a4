package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"muster/internal/wording"
)

// worded returns the text of err in muster's own words.
func worded(err error) string { return wording.Of(err, valueWords) }

// valueWords returns the error for a value that a flag of Go's own types refuses. Muster's
// types have texts of their own.
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
		return ""
	}
	return fmt.Sprintf("--%s %q: give it %s", e.GetFlag().Name, e.GetValue(), wanted)
}
