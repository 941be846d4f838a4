//go:build !(amd64 || arm64) || purego

package lane

import (
	"syscall"
	"time"

	"muster/regress/lane/fork"
	"muster/regress/lane/observe"
)

// spawner starts commands as that of spawn_vfork_linux.go does, but more slowly.
type spawner struct {
	env []string
	dir string

	noPIDFD  bool              // always false
	observer *observe.Observer // always nil: this build cannot observe
}

// prepare stores the settings that all commands share.
func (s *spawner) prepare(env []string, dir string) error {
	s.env, s.dir = env, dir
	_, err := syscall.SlicePtrFromStrings(append([]string{dir}, env...))
	return err
}

// start starts a command with the three descriptors as its streams. pidfd is -1 where the
// kernel has none.
func (s *spawner) start(path string, args []string, stdin, stdout, stderr int) (pid, pidfd int, err error) {
	pidfd = -1
	pid, err = syscall.ForkExec(path, args, &syscall.ProcAttr{
		Dir: s.dir, Env: s.env,
		Files: []uintptr{uintptr(stdin), uintptr(stdout), uintptr(stderr)},
		Sys:   &syscall.SysProcAttr{Setpgid: true, PidFD: &pidfd},
	})
	return pid, pidfd, err
}

// failure returns nil: start reports all failures.
func (s *spawner) failure() error { return nil }

// startServer starts nothing: this build has no fork servers.
func (s *spawner) startServer(fork.Command, []fork.FD) (pid, pidfd int, err error) {
	return 0, -1, syscall.ENOSYS
}

func (s *spawner) mountProc(_, _ int) error { return syscall.ENOSYS }

// alarm does nothing in this build, so works is false.
type alarm struct{ works bool }

func (a *alarm) setUp() {}

func (a *alarm) set(time.Duration) {}
