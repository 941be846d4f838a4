//go:build !amd64 && !arm64

package lane

import "syscall"

func (p *path) lstat(st *syscall.Stat_t) error { return syscall.Lstat(p.String(), st) }
