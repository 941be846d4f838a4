package lab

import (
	"fmt"
	"io"
	"time"
)

// Options are common to all measurements.
type Options struct {
	// Count is the number of measurements of each figure, 1 or more. An interval at 95 % needs
	// 6.
	Count int

	// Probe is the command of a process that calls lab.Probe with the arguments that follow.
	// It is usually this program with an argument of its own.
	Probe []string

	// Cache is the folder for compiled contestants; it need not exist. Without it, contestants
	// that need a compiler are missing.
	Cache string

	// Peers selects the contestants beside muster, by language (as in native.Program) or by
	// name; nil selects all. Questions with a fixed list of contestants ignore it.
	Peers []string

	// Journal receives each result at once, as a line of Go's benchmark format; nil discards
	// them. Earlier is the journal of an interrupted run: its results are not measured again,
	// and Journal receives only new ones. A last line without a line break is ignored; the
	// caller must remove it before it appends to the same file.
	Journal io.Writer
	Earlier io.Reader

	// Progress is called before each measurement and at the end; may be nil.
	Progress func(Progress)

	// Version is the version of this program, for the results.
	Version string
}

// Progress is the state of a run.
type Progress struct {
	Done, Total int           // measurements
	Next        string        // the current measurement or compilation; "" at the end
	Left        time.Duration // estimate; negative = unknown
}

// An InputError is a mistake in the options. Nothing was measured.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

func inputf(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

func (o *Options) check() error {
	if o.Count < 1 || o.Count > countMax {
		return inputf("count is %d, but must be from 1 to %d", o.Count, countMax)
	}
	return nil
}

// countMax bounds the measurements of each figure.
const countMax = 1000
