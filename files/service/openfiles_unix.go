//go:build unix

package service

import (
	"fmt"
	"syscall"
)

// TooManyOpenFiles is the error of a limit above the system's hard limit, Max.
type TooManyOpenFiles struct {
	Max int
	err error
}

func (t *TooManyOpenFiles) Error() string {
	return fmt.Sprintf("this process may open at most %d files (ulimit -Hn): %v", t.Max, t.err)
}

func (t *TooManyOpenFiles) Unwrap() error { return t.err }

// LimitOpenFiles sets how many files, including connections, this process may have open, and
// returns that number. 0 keeps the present limit. Only root may exceed the system's hard
// limit. Others get *TooManyOpenFiles.
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
