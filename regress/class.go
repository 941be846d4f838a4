package regress

import (
	"context"
	"errors"
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
	StatusDiffers     = 1 // something is not identical; no class has it
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

// Classified is an error with a class.
type Classified interface {
	error
	Class() Class
}

// ClassOf returns the class of the outermost classified error in err's chain. It returns
// Interrupted for a cancelled context, None for nil, and Environment for all other errors: an
// unforeseen error is never blamed on the tool.
func ClassOf(err error) Class {
	var classified Classified
	switch {
	case err == nil:
		return None
	case errors.As(err, &classified):
		return classified.Class()
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Environment
}
