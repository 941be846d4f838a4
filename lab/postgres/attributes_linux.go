package postgres

import "syscall"

// processAttributes makes the process end together with this one, even if this one is killed. The
// kernel watches the thread that starts the process. Go keeps its threads, except one that a
// goroutine locked and did not unlock.
func processAttributes(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner, Pdeathsig: syscall.SIGQUIT, Setpgid: true}
}
