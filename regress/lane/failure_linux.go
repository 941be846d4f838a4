package lane

import (
	"errors"
	"syscall"
)

// failure is an error with the operation and its object. Package fmt imports "os", so it
// cannot be used here.
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

// isFull reports whether an error means that a file system has no room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
