//go:build !linux

package load

import "errors"

// family is a process and all its descendants.
type family struct{ root int }

func (f *family) threads() (int, error) {
	return 0, errors.New("the threads of a process can be counted on Linux only: name the server's --admin address")
}
