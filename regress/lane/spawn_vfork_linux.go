//go:build (amd64 || arm64) && !purego

package lane

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"muster/regress/lane/fork"
	"muster/regress/lane/observe"
	"muster/regress/lane/scan"
)

// step is a system call that a new process makes before it becomes the command.
type step struct {
	number, a, b, c uintptr
	result          uintptr
}

//go:noescape
func clone(flags uintptr, pidfd *int32, steps *step, count uintptr, stack unsafe.Pointer) (pid int)

// spawner starts commands. It does what syscall.ForkExec does, for a process without
// threads that fork, and whose only signal handler is that of alarm. It takes one system call instead
// of nine, makes no garbage, and saves 56 calls in the child, which would count as the case's.
//
// The new process shares this one's memory until it becomes the command, but not the stack. So
// this process need not sleep meanwhile, as with vfork(2): it is about to sleep until the
// command ends, and one sleep less saves 6 to 10 µs a case. See failure for the steps' results.
type spawner struct {
	env   block
	dir   block
	path  block
	args  block
	steps [9]step
	count int // of steps whose results are not known yet
	pidfd int32
	stack *[16 << 10]byte // of the new process, for the handler of a signal

	noPIDFD  bool              // a command that is not observed gets no pidfd
	observer *observe.Observer // nil = the next command is not observed
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
		if scan.Index(s, 0) >= 0 {
			return syscall.EINVAL
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
	s.stack = new([16 << 10]byte)
	return s.dir.set(dir)
}

// start starts a command with the three descriptors as its streams. pidfd is -1 where the
// kernel has none, and if noPIDFD is set. Call failure when the process has ended.
func (s *spawner) start(path string, args []string, stdin, stdout, stderr int) (pid, pidfd int, err error) {
	s.count = 0
	if err := s.path.set(path); err != nil {
		return 0, -1, err
	}
	if err := s.args.set(args...); err != nil {
		return 0, -1, err
	}
	if s.observer != nil {
		return s.startObserved(stdin, stdout, stderr)
	}
	count := s.listSteps(stdin, stdout, stderr)
	flags := uintptr(clonePIDFD)
	if s.noPIDFD {
		flags = 0
	}
	if pid, err = s.clone(flags, count); err != nil {
		return 0, -1, err
	}
	s.count = count
	return pid, int(s.pidfd), nil
}

// failure returns the error of a process that has ended and did not become the command.
func (s *spawner) failure() error {
	_, err := s.failedStep(s.count)
	return err
}

// listSteps fills in the steps of a command, with the observer's steps before those that are the
// command's own, and returns their number.
func (s *spawner) listSteps(stdin, stdout, stderr int, observing ...step) (count int) {
	add := func(list ...step) { count += copy(s.steps[count:], list) }
	add(step{number: syscall.SYS_SETPGID}, step{number: syscall.SYS_CHDIR, a: s.dir.first()})
	add(observing...)
	add(step{number: syscall.SYS_DUP3, a: uintptr(stdin), b: 0},
		step{number: syscall.SYS_DUP3, a: uintptr(stdout), b: 1},
		step{number: syscall.SYS_DUP3, a: uintptr(stderr), b: 2},
		step{number: syscall.SYS_EXECVE, a: s.path.first(), b: s.args.all(), c: s.env.all()})
	return count
}

// clone makes a new process, which makes the steps.
func (s *spawner) clone(flags uintptr, count int) (pid int, err error) {
	s.pidfd = -1
	pid = clone(syscall.CLONE_VM|uintptr(syscall.SIGCHLD)|flags, &s.pidfd, &s.steps[0], uintptr(count), unsafe.Pointer(&s.stack[len(s.stack)-16]))
	runtime.KeepAlive(s) // the steps hold addresses in s as numbers
	if pid < 0 {
		return 0, syscall.Errno(-pid)
	}
	return pid, nil
}

// vfork is clone that returns when the new process has become the command, or has ended. failed
// is the index of the step that failed, or -1.
func (s *spawner) vfork(extra uintptr, count int) (pid, failed int, err error) {
	s.count = 0
	if pid, err = s.clone(syscall.CLONE_VFORK|clonePIDFD|extra, count); err != nil {
		return 0, -1, err
	}
	failed, err = s.failedStep(count)
	return pid, failed, err
}

// failedStep returns the step that failed and its error, or -1.
func (s *spawner) failedStep(count int) (failed int, err error) {
	for i := range s.steps[:count] {
		if e := -int(s.steps[i].result); e > 0 && e < 4096 {
			return i, syscall.Errno(e)
		}
	}
	return -1, nil
}

// startObserved starts a command whose calls the observer sees. The new process shares this one's
// descriptors until it has made the filter, so that the listener is here too. Without the right to
// make a filter, the kernel demands no_new_privs.
func (s *spawner) startObserved(stdin, stdout, stderr int) (pid, pidfd int, err error) {
	const (
		setNoNewPrivs = 38 // PR_SET_NO_NEW_PRIVS
		setFilter     = 1
		newListener   = 8
		waitKillable  = 0x20 // since Linux 5.19: no signal interrupts a call that was received
		firstStep     = 2    // of the observer
	)
	path := string(s.path.bytes[:len(s.path.bytes)-1])
	program, executable, err := s.observer.Begin(path)
	if err != nil {
		return 0, -1, err
	}
	flags, observing := uintptr(newListener|waitKillable), []step{}
	for failed := 0; ; {
		list := append(slices.Clone(observing), step{number: observe.SysSeccomp, a: setFilter, b: flags, c: program}, step{number: syscall.SYS_UNSHARE, a: observe.CloneFiles})
		count, at := s.listSteps(stdin, stdout, stderr, list...), firstStep+len(observing)
		s.steps[count-1].a = executable
		pid, failed, err = s.vfork(observe.CloneFiles, count)
		if failed < 0 && err != nil {
			return 0, -1, err // no process was made
		}
		if failed < 0 || failed > at {
			s.observer.Attach(int(s.steps[at].result), len(observing) > 0)
		}
		if failed < 0 {
			s.observer.Started(pid, path)
			return pid, int(s.pidfd), nil
		}
		s.reapFailed(pid)
		switch {
		case failed != at:
			return 0, -1, err
		case err == syscall.EINVAL && flags != newListener:
			flags = newListener
		case err == syscall.EACCES && len(observing) == 0:
			observing = []step{{number: syscall.SYS_PRCTL, a: setNoNewPrivs, b: 1}}
		default: // the kernel refuses the filter
			s.observer.Refuse()
			if pid, failed, err = s.vfork(0, s.listSteps(stdin, stdout, stderr)); failed >= 0 {
				s.reapFailed(pid)
			}
			return pid, int(s.pidfd), err
		}
	}
}

// startServer starts a command as a fork server, with these descriptors at its numbers. The processes
// that it makes are in a PID namespace below this one.
func (s *spawner) startServer(c fork.Command, fds []fork.FD) (pid, pidfd int, err error) {
	var env block
	if err := errors.Join(s.path.set(c.Path), s.args.set(c.Args...), env.set(c.Env...)); err != nil {
		return 0, -1, err
	}
	list := []step{{number: syscall.SYS_SETPGID}, {number: syscall.SYS_CHDIR, a: s.dir.first()},
		{number: syscall.SYS_UNSHARE, a: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}}
	for _, f := range fds {
		list = append(list, step{number: syscall.SYS_DUP3, a: uintptr(f.FD), b: uintptr(f.Number)})
	}
	list = append(list, step{number: syscall.SYS_EXECVE, a: s.path.first(), b: s.args.all(), c: env.all()})
	if len(list) > len(s.steps) {
		return 0, -1, syscall.E2BIG
	}
	pid, failed, err := s.vfork(0, copy(s.steps[:], list))
	runtime.KeepAlive(&env)
	if failed >= 0 {
		s.reapFailed(pid)
	}
	if err != nil {
		return 0, -1, err
	}
	return pid, int(s.pidfd), nil
}

// mountProc mounts a /proc for the PID namespace of a server's children in the server's mount
// namespace. Both are descriptors. The process that mounts has to be in that PID namespace, so it is
// a child of the one that enters it. Both make the same steps. The child closes the descriptor, which
// they share, so that the parent ends when its turn comes.
func (s *spawner) mountProc(children, mounts int) error {
	if err := s.args.set("proc", "/proc"); err != nil {
		return err
	}
	const sysSetns = 308 // its number on amd64, where fork servers are
	const cloning = syscall.CLONE_VM | syscall.CLONE_VFORK | syscall.CLONE_FILES | syscall.CLONE_PARENT | uintptr(syscall.SIGCHLD)
	proc, at := s.args.pointers[0], s.args.pointers[1]
	list := [...]step{
		{number: sysSetns, a: uintptr(children), b: syscall.CLONE_NEWPID},
		{number: syscall.SYS_CLONE, a: cloning},
		{number: sysSetns, a: uintptr(mounts), b: syscall.CLONE_NEWNS},
		{number: syscall.SYS_CLOSE, a: uintptr(mounts)},
		{number: syscall.SYS_MOUNT, a: proc, b: at, c: proc},
		{number: syscall.SYS_EXIT},
	}
	pid, failed, err := s.vfork(0, copy(s.steps[:], list[:]))
	if pid > 0 {
		s.reapFailed(pid)
	}
	const cloned = 1 // the index of that step
	if child := int(s.steps[cloned].result); failed > cloned && child > 0 {
		if fork.WaitFor(child) == 0 {
			return nil
		}
	}
	return err
}

const clonePIDFD = 0x1000 // CLONE_PIDFD

// reapFailed reaps a child that did not become the command.
func (s *spawner) reapFailed(pid int) {
	if s.pidfd >= 0 {
		syscall.Close(int(s.pidfd))
	}
	fork.WaitFor(pid)
}

// alarm ends a blocking wait of this thread. Most commands end before it, so waiting for a child needs
// neither a pidfd nor poll(2), which cost some 10 µs a case.
//
// A timer of the kernel sends a signal to this thread alone. The handler of the signal does nothing. Commands
// inherit neither timer nor handler.
type alarm struct {
	id    int32
	works bool
}

// alarmHandler returns the addresses of the handler and of the code that returns from it.
func alarmHandler() (handler, returning uintptr)

// setUp makes the timer. Without one, or without pidfds for the commands that end after the alarm, works
// is false.
func (a *alarm) setUp() {
	fd := fork.OpenPID(syscall.Getpid())
	if fd < 0 {
		return
	}
	closeFD(fd)
	const (
		onStack, restorer = 0x08000000, 0x04000000 // SA_ONSTACK, SA_RESTORER
		monotonic         = 1                      // CLOCK_MONOTONIC
		threadID          = 4                      // SIGEV_THREAD_ID
	)
	handler, returning := alarmHandler()
	action := [4]uintptr{handler, onStack | restorer, returning}
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGALRM), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	if e != 0 {
		return
	}
	event := struct {
		value              uintptr
		signal, notify, to int32
		_                  [44]byte
	}{signal: int32(syscall.SIGALRM), notify: threadID, to: int32(syscall.Gettid())}
	_, _, e = syscall.RawSyscall(syscall.SYS_TIMER_CREATE, monotonic, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&a.id)))
	a.works = e == 0
}

// set starts the alarm. Its signal is repeated, because the first one may come just before the wait. The
// interval is a whole tick: if signals came faster than the handler returns, this thread would do nothing
// else. Zero stops the alarm.
func (a *alarm) set(after time.Duration) {
	spec := [2]syscall.Timespec{syscall.NsecToTimespec(int64(tick)), syscall.NsecToTimespec(int64(after))} // interval, first
	_, _, _ = syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME, uintptr(a.id), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}
