package run

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Options are common to all that measures.
type Options struct {
	// Count is how often each figure is taken: 1 or more. An interval at 95 % needs 6.
	Count int

	// Probe is the command of a process that calls lab.Probe with the arguments that
	// follow: this program with an argument of its own.
	Probe []string

	// Cache is the folder in which contestants are kept once they are compiled; it need
	// not exist. "" is none: then those that are to be compiled are missing.
	Cache string

	// Peers are the languages, as in native.Program, or the contestants that take part
	// beside muster, where a question does not say which do; nil is all.
	Peers []string

	// Journal gets every result as soon as it is there, as a line of Go's benchmarks; nil
	// is none. Earlier is what an interrupted run left in its journal: what it has is not
	// measured again, and Journal gets what comes after it. A last line without an end
	// counts for nothing and must not be in the way of that.
	Journal io.Writer
	Earlier io.Reader

	// Progress is called before each measurement, and at the end; nil is nobody.
	Progress func(Progress)

	// Version is that of this program, for the results.
	Version string
}

// Progress is how far a run has come.
type Progress struct {
	Done, Total int           // measurements
	Next        string        // what is measured or compiled now; empty at the end
	Left        time.Duration // estimated; negative = cannot be told yet
}

// An InputError is a mistake in what was asked for: nothing was measured.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

func inputf(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

func (o *Options) check() error {
	if o.Count < 1 || o.Count > countMax {
		return inputf("a count of %d: it must be 1 to %d", o.Count, countMax)
	}
	if len(o.Probe) == 0 {
		return errors.New("run.Options needs Probe, the command of its probes")
	}
	return nil
}

// countMax bounds how often a figure is taken.
const countMax = 1000
