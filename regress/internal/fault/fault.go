// Package fault makes errors with a class, see regress.Class. With it, one place maps errors to exit
// statuses.
//
// A failure of the tool under test is not an error here: it is part of an outcome.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"muster/regress"
)

type fault struct {
	class regress.Class
	err   error
}

// Class makes the error a regress.Classified.
func (f *fault) Class() regress.Class { return f.class }

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// Inputf returns an error of class Input.
func Inputf(format string, args ...any) error {
	return &fault{regress.Input, fmt.Errorf(format, args...)}
}

// Environmentf returns an error of class Environment.
func Environmentf(format string, args ...any) error {
	return &fault{regress.Environment, fmt.Errorf(format, args...)}
}

// Emptyf returns an error of class Empty.
func Emptyf(format string, args ...any) error {
	return &fault{regress.Empty, fmt.Errorf(format, args...)}
}

// Interruptedf returns an error of class Interrupted.
func Interruptedf(format string, args ...any) error {
	return &fault{regress.Interrupted, fmt.Errorf(format, args...)}
}

// Reason returns an error about a file without the operation and the path, which the message
// already has.
func Reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}
