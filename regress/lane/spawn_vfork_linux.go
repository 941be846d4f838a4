//go:build (amd64 || arm64) && !purego

package lane

import (
	"runtime"
	"syscall"
	"unsafe"
)

// step is a system call that a new process makes before it becomes the command.
type step struct {
	number, a, b, c uintptr
	result          uintptr
}

//go:noescape
func vfork(flags uintptr, pidfd *int32, steps *step, count uintptr) (pid int)

// spawner starts commands. It does what syscall.ForkExec does, for a process that has no
// signal handlers and no threads that fork. It takes one system call instead of nine, makes no
// garbage, and saves 56 calls in the child, which would count as the case's.
type spawner struct {
	env   block
	dir   block
	path  block
	args  block
	steps [6]step
	pidfd int32
}

// block is a list of strings as the kernel takes it. Its memory is reused.
type block struct {
	bytes    []byte
	pointers []uintptr
}

// set fills the block. A string with a NUL byte is an error.
func (k *block) set(list ...string) error {
	k.bytes, k.pointers = k.bytes[:0], k.pointers[:0]
	for _, s := range list {
		for i := range len(s) {
			if s[i] == 0 {
				return syscall.EINVAL
			}
		}
		k.bytes = append(append(k.bytes, s...), 0)
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(k.bytes)))
	for _, s := range list {
		k.pointers = append(k.pointers, at)
		at += uintptr(len(s)) + 1
	}
	k.pointers = append(k.pointers, 0)
	return nil
}

func (k *block) first() uintptr { return k.pointers[0] }
func (k *block) all() uintptr   { return uintptr(unsafe.Pointer(unsafe.SliceData(k.pointers))) }

// prepare stores the settings that all commands share.
func (s *spawner) prepare(env []string, dir string) error {
	if err := s.env.set(env...); err != nil {
		return err
	}
	return s.dir.set(dir)
}

// start starts a command with the three descriptors as its streams. pidfd is -1 where the
// kernel has none.
func (s *spawner) start(path string, args []string, stdin, stdout, stderr int) (pid, pidfd int, err error) {
	if err := s.path.set(path); err != nil {
		return 0, -1, err
	}
	if err := s.args.set(args...); err != nil {
		return 0, -1, err
	}
	s.steps = [...]step{
		{number: syscall.SYS_SETPGID},
		{number: syscall.SYS_CHDIR, a: s.dir.first()},
		{number: syscall.SYS_DUP3, a: uintptr(stdin), b: 0},
		{number: syscall.SYS_DUP3, a: uintptr(stdout), b: 1},
		{number: syscall.SYS_DUP3, a: uintptr(stderr), b: 2},
		{number: syscall.SYS_EXECVE, a: s.path.first(), b: s.args.all(), c: s.env.all()},
	}
	s.pidfd = -1
	const flags = syscall.CLONE_VM | syscall.CLONE_VFORK | clonePIDFD | uintptr(syscall.SIGCHLD)
	pid = vfork(flags, &s.pidfd, &s.steps[0], uintptr(len(s.steps)))
	runtime.KeepAlive(s) // the steps hold addresses in s as numbers
	if pid < 0 {
		return 0, -1, syscall.Errno(-pid)
	}
	for i := range s.steps {
		if e := -int(s.steps[i].result); e > 0 && e < 4096 {
			s.reapFailed(pid)
			return 0, -1, syscall.Errno(e)
		}
	}
	return pid, int(s.pidfd), nil
}

const clonePIDFD = 0x1000 // CLONE_PIDFD

// reapFailed reaps a child that did not become the command.
func (s *spawner) reapFailed(pid int) {
	if s.pidfd >= 0 {
		syscall.Close(int(s.pidfd))
	}
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}
