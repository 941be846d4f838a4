package postgres

import "syscall"

// attributes have the process end with this one, however that ends. What the kernel
// watches is the thread that starts it; Go keeps its threads, except one that a goroutine
// locked and did not give back.
func attributes(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
}
