//go:build unix

package service

import (
	"fmt"
	"syscall"
)

// TooManyOpenFiles is the error of a limit above what the system allows, which is Most.
type TooManyOpenFiles struct {
	Most int
	err  error
}

func (t *TooManyOpenFiles) Error() string {
	return fmt.Sprintf("this process may have %d at most (ulimit -Hn): %v", t.Most, t.err)
}

func (t *TooManyOpenFiles) Unwrap() error { return t.err }

// LimitOpenFiles sets how many files, connections among them, this process may have open,
// and returns that; 0 leaves what it is. More than the system's hard limit is possible for
// root alone; for others it is *TooManyOpenFiles.
func LimitOpenFiles(n int) (int, error) {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		return 0, err
	}
	if n == 0 {
		return int(min(now.Cur, 1<<30)), nil
	}
	want := syscall.Rlimit{Cur: uint64(n), Max: max(now.Max, uint64(n))}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want); err != nil {
		return 0, &TooManyOpenFiles{int(min(now.Max, 1<<30)), err}
	}
	return n, nil
}
