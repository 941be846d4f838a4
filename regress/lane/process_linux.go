package lane

import (
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// What cases inherit from the helper must not depend on who started muster,
// and how.

// resetSignals gives every signal its default effect, in place of the Go
// runtime's handlers and of what the caller had ignored (nohup ignores SIGHUP,
// a script's "&" SIGINT), and blocks none. It has a second use: the init of a
// PID namespace does not even see the signals with their default effect that
// processes in there send it, so no case can end its helper by "kill -1".
func resetSignals() {
	const signalsMax = 64
	var action, mask [16]uintptr // zero: struct sigaction with SIG_DFL; no signal
	for sig := uintptr(1); sig <= signalsMax; sig++ {
		// SIGKILL and SIGSTOP are refused, and need nothing.
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	}
	const setMask = 2 // SIG_SETMASK
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&mask)), 0, 8, 0, 0)
}

// closeOnExec keeps every descriptor but the three streams out of the cases:
// ours, and those that the caller of muster left open.
func closeOnExec() error {
	const (
		closeRange = 436 // its number on every architecture
		onExec     = 4   // CLOSE_RANGE_CLOEXEC
		all        = 1<<32 - 1
	)
	if _, _, e := syscall.RawSyscall(closeRange, JobsFD, all, onExec); e == 0 {
		return nil
	}
	// A kernel before 5.11.
	return each("/proc/self/fd", func(e entry) error {
		if fd, err := strconv.Atoi(e.name); err == nil && fd >= JobsFD {
			syscall.CloseOnExec(fd)
		}
		return nil
	})
}

// wakeAtParentsEnd asks for SIGCONT when the parent ends. A case in a plain lane can
// stop this process, which would then never see that its socket is closed. The kernel
// sends the signal also when only the parent's thread that started this process ends:
// a process that runs ignores it.
//
// A parent that has ended already sends no signal. Its end of the socket shows that;
// getppid does not in a PID namespace, where it is always 0.
func wakeAtParentsEnd() error {
	const setParentDeathSignal = 1 // PR_SET_PDEATHSIG
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGCONT), 0); e != 0 {
		return fail("ask for", "a signal at the parent's end", e)
	}
	socket := [1]pollFD{{fd: JobsFD}}
	if err := poll(socket[:], 0); err != nil {
		return err
	}
	if socket[0].revents&pollHangUp != 0 {
		return errOrphaned
	}
	return nil
}

// standApart makes the process the head of a session without a terminal, of no
// core files, and of everything that cases leave running.
func standApart() error {
	syscall.Umask(0o022)
	// EPERM: the head of a session already.
	if _, err := syscall.Setsid(); err != nil && err != syscall.EPERM {
		return fail("setsid", "", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fail("limit", "core files", err) // one would be taken for an output
	}
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); e != 0 {
		return fail("become", "subreaper", e)
	}
	return nil
}

// withheld are the capabilities that no case gets, not even root's. With the
// first three it could mount over its lane's folders, make files that nobody
// can remove, or get hold of both through this process, which keeps them. The
// others reach beyond every namespace: modules, IO ports, reboot, the clock. No
// compiler needs one to work on files. Raising limits (CAP_SYS_RESOURCE), other
// users' files, priorities, devices and networks stay: tests do such things, and
// they end with the case.
var withheld = [...]uintptr{
	21, // CAP_SYS_ADMIN
	9,  // CAP_LINUX_IMMUTABLE
	19, // CAP_SYS_PTRACE: its own children a process may trace without
	16, // CAP_SYS_MODULE
	17, // CAP_SYS_RAWIO
	22, // CAP_SYS_BOOT
	25, // CAP_SYS_TIME
}

// dropCapabilities takes away what no case is to inherit. Without the ambient
// and the inheritable set nothing that this process holds survives exec, except
// in root's hands, and there only what the bounding set has.
func dropCapabilities() error {
	const (
		ambient      = 47 // PR_CAP_AMBIENT
		clearAll     = 4  // PR_CAP_AMBIENT_CLEAR_ALL
		dropBounding = 24 // PR_CAPBSET_DROP
	)
	for _, c := range withheld {
		// EPERM: an ordinary user, who has none to pass on, or a container
		// without CAP_SETPCAP. EINVAL: none that this kernel knows.
		_, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, dropBounding, c, 0)
		if e != 0 && e != syscall.EPERM && e != syscall.EINVAL {
			return fail("drop", "capabilities", e)
		}
	}
	_, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, ambient, clearAll, 0, 0, 0, 0)
	if e != 0 && e != syscall.EINVAL { // EINVAL: a kernel without ambient capabilities
		return fail("drop", "ambient capabilities", e)
	}
	var (
		header = struct{ version, pid uint32 }{version: 0x20080522}
		sets   [2]struct{ effective, permitted, inheritable uint32 }
	)
	_, _, e = syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0)
	if e == 0 {
		sets[0].inheritable, sets[1].inheritable = 0, 0
		_, _, e = syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&sets)), 0)
	}
	if e != 0 {
		return fail("drop", "inheritable capabilities", e)
	}
	return nil
}

// ownCPU returns what this process itself has taken since it began.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return cpuTime(&u)
}

func cpuTime(u *syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
