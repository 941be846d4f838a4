//go:build unix

package service

import "syscall"

// LimitOpenFiles sets how many files, including connections, this process may have open, and
// returns that number. 0 keeps the present limit. A number that the system does not allow becomes its hard limit.
func LimitOpenFiles(n int) (int, error) {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		return 0, err
	}
	if n == 0 {
		return int(min(now.Cur, 1<<30)), nil
	}
	want := syscall.Rlimit{Cur: uint64(n), Max: max(now.Max, uint64(n))}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want) == nil {
		return n, nil
	}
	want = syscall.Rlimit{Cur: now.Max, Max: now.Max}
	return int(min(now.Max, 1<<30)), syscall.Setrlimit(syscall.RLIMIT_NOFILE, &want)
}
