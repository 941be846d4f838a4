//go:build !linux

package postgres

import "syscall"

// attributes keep an interrupt at the terminal from the process: it ends with the context.
func processAttributes(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner, Setpgid: true}
}
