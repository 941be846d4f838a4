package lane

import (
	"errors"
	"syscall"
)

// failure is an error with what was tried and on what; fmt is out of reach
// here (see the package comment).
type failure struct {
	op, path string
	err      error
}

func (f *failure) Error() string { return f.op + " " + f.path + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &failure{op, path, err}
}

// isFull reports whether an error is that of a file system without room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
