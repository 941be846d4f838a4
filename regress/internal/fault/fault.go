// Package fault holds the closed set of failure classes that end a command. With it, one place maps
// errors to exit codes.
//
// It must not hold verdicts about the tool under test: those are outcomes.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Class is the class of a failure: it decides who must act.
type Class int

// The classes. The zero value None means that the error is not a failure of this set.
const (
	None        Class = iota
	Input             // usage, configuration, hostile or damaged input, no golden: the caller must change something
	Environment       // disk full, command not found, lane refused: the machine must change
	Empty             // nothing selected
	Interrupted       // a signal ended the run; finished work is kept
)

// Exit statuses of the program, which `muster help exit-codes` explains.
const (
	StatusClean       = 0
	StatusDiffers     = 1 // something is not identical: not a failure of this set
	StatusInput       = 2
	StatusEnvironment = 3
	StatusEmpty       = 4
	StatusInterrupted = 130 // 128 + SIGINT, as in shells
)

// Status returns the exit status for a class.
func (c Class) Status() int {
	switch c {
	case None:
		return StatusClean
	case Input:
		return StatusInput
	case Empty:
		return StatusEmpty
	case Interrupted:
		return StatusInterrupted
	}
	return StatusEnvironment
}

type fault struct {
	class Class
	err   error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Inputf returns an error of class Input.
func Inputf(format string, args ...any) error {
	return &fault{Input, fmt.Errorf(format, args...)}
}

// Environmentf returns an error of class Environment.
func Environmentf(format string, args ...any) error {
	return &fault{Environment, fmt.Errorf(format, args...)}
}

// Emptyf returns an error of class Empty.
func Emptyf(format string, args ...any) error {
	return &fault{Empty, fmt.Errorf(format, args...)}
}

// Interruptedf returns an error of class Interrupted.
func Interruptedf(format string, args ...any) error {
	return &fault{Interrupted, fmt.Errorf(format, args...)}
}

// ClassOf returns the class of the outermost classified error in err's chain. It returns
// Interrupted for a cancelled context, None for nil, and Environment for all other errors: an
// unforeseen error is never blamed on the tool.
func ClassOf(err error) Class {
	var f *fault
	switch {
	case err == nil:
		return None
	case errors.As(err, &f):
		return f.class
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Environment
}

// Reason returns an error about a file without the operation and the path, which the message
// already has.
func Reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
